"""The test's own tools, loaded into every process of a test by INSTALLED_APPS."""

from importlib import import_module

from django.apps import AppConfig


class SupportConfig(AppConfig):
    name = "tests.support"
    label = "support"

    def ready(self) -> None:
        import_module("tests.support.tools")
        import_module("tests.support.kills").arm()
