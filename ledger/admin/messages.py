"""Messages to and from clients, and what providers said of them."""

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from ledger.admin.reading import ReadingAdmin, ReadingInline, column, register, titled
from ledger.models import Attachment, ClientMessage, DeliveryEvent


class Attachments(ReadingInline):
    model = Attachment
    rows = (column("name", _("Name")), column("document__sha256", _("Document's SHA-256")))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Attachment]:
        """Without the documents' bytes."""
        whole = super().get_queryset(request).select_related("document")
        return whole.defer("document__content", "document__preview")


class Events(ReadingInline):
    model = DeliveryEvent
    ordering = ("at", "id")
    rows = (
        column("at", _("When")),
        column("kind", _("What")),
        column("recipient", _("Recipient")),
        column("provider", _("Provider")),
        column("event_id", _("Provider's event")),
    )


@register(ClientMessage)
class ClientMessageAdmin(ReadingAdmin):
    section = "messages"
    list_display = (
        column("ref", _("Ref")),
        column("direction", _("Direction")),
        column("channel", _("Channel")),
        column("status", _("Status")),
        column("client", _("Client")),
        column("lead", _("Lead")),
        column("subject", _("Subject")),
        column("created_at", _("Made")),
        column("sent_at", pgettext_lazy("message", "Sent")),
    )
    list_filter = (
        ("status", titled(_("Status"))),
        ("direction", titled(_("Direction"))),
        ("channel", titled(_("Channel"))),
    )
    list_select_related = ("client", "lead")
    search_fields = ("ref", "subject", "search")
    ordering = ("-created_at", "-id")
    inlines = (Attachments, Events)
    rows = (
        column("ref", _("Ref")),
        column("direction", _("Direction")),
        column("channel", _("Channel")),
        column("kind", _("Kind")),
        column("status", _("Status")),
        column("client", _("Client")),
        column("lead", _("Lead")),
        column("revision", _("Quote revision")),
        column("sender_name", _("Sender's name")),
        column("sender", _("Sender")),
        column("to", _("To")),
        column("cc", _("Copy to")),
        column("bcc", _("Blind copy to")),
        column("subject", _("Subject")),
        column("body", _("Text")),
        column("key", _("Key at the provider")),
        column("provider_id", _("Provider's reference")),
        column("problem", _("Problem")),
        column("created_at", _("Made")),
        column("created_by", _("Made by")),
        column("reserved_at", _("Handed over")),
        column("sent_at", pgettext_lazy("message", "Sent")),
        column("closed_at", _("Closed")),
    )
