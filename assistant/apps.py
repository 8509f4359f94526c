"""The agent, its gate and its doors."""

from django.apps import AppConfig
from django.core.exceptions import ImproperlyConfigured


class AssistantConfig(AppConfig):
    name = "assistant"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Load every tool and job, and refuse to start while a gated tool is incomplete (T21)."""
        from assistant.gate import catalogue

        problems = catalogue.load()
        if problems:
            raise ImproperlyConfigured("Incomplete tools: " + "; ".join(problems))
