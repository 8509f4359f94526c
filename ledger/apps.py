"""The business: companies, people, clients, quotes, and what may be done with them."""

from typing import Any

from django.apps import AppConfig
from django.apps.registry import Apps
from django.conf import settings
from django.db import connections
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _

from ledger import checks, roles

__all__ = ["LedgerConfig", "checks"]


class LedgerConfig(AppConfig):
    name = "ledger"
    verbose_name = _("Ledger")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        post_migrate.connect(schedule_sweep, sender=self)
        if settings.AVAL_PROCESS in ("web", "agent", "worker"):
            roles.watch()


def schedule_sweep(using: str, apps: Apps, **_kwargs: Any) -> None:
    """See to it that the queue sweeps once a minute; the clock of the agent process is only the faster one."""
    schedules = apps.get_model("django_q", "Schedule")
    if schedules._meta.db_table in connections[using].introspection.table_names():
        schedules.objects.using(using).update_or_create(
            name="sweep", defaults={"func": "ledger.tasks.sweep", "schedule_type": "I", "minutes": 1, "repeats": -1}
        )
