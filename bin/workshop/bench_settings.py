"""The processes of a benchmark: the product's settings, and every query counted into a file."""

from tests.settings_processes import *  # noqa: F403

INSTALLED_APPS += ["bin.workshop.counting"]  # noqa: F405
