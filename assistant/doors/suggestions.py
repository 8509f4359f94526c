"""First sentences for an empty conversation, from what is really there."""

from django.utils.translation import gettext as _

from ledger import permissions
from ledger.models import Client, Lead, Membership, Quote

MOST = 4


def for_member(member: Membership) -> list[str]:
    """At most four things that this member could ask now, the most pressing first."""
    if not permissions.allowed(member, "view_records"):
        return []
    found: list[str] = []
    drafts = Quote.objects.filter(status="draft", deleted_at=None).order_by("-updated_at")
    draft = drafts.select_related("client").first()
    if draft is not None and draft.client is not None and permissions.allowed(member, "send_quote"):
        found.append(_("Send quote %(ref)s to %(client)s") % {"ref": draft.ref, "client": draft.client.name})
    sent = Quote.objects.filter(status="sent", deleted_at=None).count()
    if sent:
        found.append(_("List the quotes that wait for an answer (%(count)d)") % {"count": sent})
    leads = Lead.objects.filter(deleted_at=None).order_by("-created_at").first()
    if leads is not None:
        found.append(_("Show the lead %(name)s") % {"name": leads.name})
    client = Client.objects.filter(deleted_at=None).order_by("-updated_at").first()
    if client is not None:
        found.append(_("Show me everything about %(name)s") % {"name": client.name})
    return found[:MOST]
