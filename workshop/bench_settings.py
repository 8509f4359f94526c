"""The processes of a benchmark: the product's settings, and every query counted into a file."""

from tests.settings_processes import *  # noqa: F403

INSTALLED_APPS += ["workshop.counting"]  # noqa: F405
