"""The agent, its gate and its doors."""

from importlib import import_module

from django.apps import AppConfig
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _


class AssistantConfig(AppConfig):
    name = "assistant"
    verbose_name = _("Assistant")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Load every tool, job and alarm, and refuse to start while a gated tool is incomplete (T21)."""
        for name in ("alarms", "checks", "weekly"):
            import_module(f"assistant.insight.{name}")
        problems = import_module("assistant.gate.catalogue").load()
        if problems:
            raise ImproperlyConfigured("Incomplete tools: " + "; ".join(problems))
