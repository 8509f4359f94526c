"""The business: companies, people, clients, quotes, and what may be done with them."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from ledger import checks

__all__ = ["LedgerConfig", "checks"]


class LedgerConfig(AppConfig):
    name = "ledger"
    verbose_name = _("Ledger")
    default_auto_field = "django.db.models.BigAutoField"
