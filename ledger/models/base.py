"""What every business row has."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from ledger.tenancy import TenantForeignKey, TenantModel


class Via(models.TextChoices):
    """The door through which a row came in."""

    WEB = "web", _("Web")
    AGENT = "agent", _("Assistant")
    MCP = "mcp", _("MCP client")
    API = "api", _("API")
    WHATSAPP = "whatsapp", _("WhatsApp")
    IMPORT = "import", _("Import")
    PORTAL = "portal", _("Client's page")
    WEBHOOK = "webhook", _("Provider's notice")
    ADMIN = "admin", _("Administration")
    SYSTEM = "system", _("The system")


class BusinessModel(TenantModel):
    """A row of the business: its ref, its optimistic lock, who made and last changed it, its trash mark.

    The ref is unique in its company: the constraint `<model>_ref` comes by itself (tenancy's metaclass), as
    do the policy and the composite keys. `search` holds what the row is found by, as `text.search_key` writes
    it.
    """

    ref = models.CharField(max_length=24, editable=False)
    version = models.PositiveIntegerField(default=1, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = TenantForeignKey("ledger.Membership", null=True, related_name="+", editable=False)
    created_via = models.CharField(max_length=12, choices=Via, default=Via.SYSTEM, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_by = TenantForeignKey("ledger.Membership", null=True, related_name="+", editable=False)
    deleted_at = models.DateTimeField(null=True, editable=False)
    deleted_by = TenantForeignKey("ledger.Membership", null=True, related_name="+", editable=False)
    search = models.TextField(default="", blank=True, editable=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.ref
