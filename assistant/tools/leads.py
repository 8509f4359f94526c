"""Leads: look, add, change, move on the board; turning one into a client or deleting it puts up a card."""

import uuid
from datetime import timedelta
from typing import Annotated, Any, Literal

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field, StringConstraints

from assistant.tools.effects import Effect
from assistant.tools.fields import EmailText, Money, Ref, SubjectHint
from assistant.tools.party_cards import conversion_card, delete_lead_card
from assistant.tools.party_fields import AddressFields, Days, Limit, Name, OnDuplicate, Patch, Phone, Word, changes_of
from assistant.tools.party_words import lead_line, lead_whole, namesakes, outside_of, party_candidate
from assistant.tools.quote_words import brief
from assistant.tools.quotes import newest_revisions
from assistant.tools.registry import Context, OnReject, Prepared, ReadResult, Receipt, ToolArguments, tool
from assistant.tools.subjects import require_subject
from ledger.actions.conversions import convert_lead_to_client
from ledger.actions.leads import create_lead, delete_lead, move_lead_stage, update_lead
from ledger.actions.records import by_ref
from ledger.errors import NotFound
from ledger.models import Client, Lead, Membership
from ledger.money import parse_money

Stage = Literal["new", "contacted", "inspection_scheduled", "estimating", "quoted", "won", "lost", "junk"]
Movable = Literal["new", "contacted", "inspection_scheduled", "estimating", "quoted", "lost", "junk"]
Reason = Literal["price", "competitor", "no_reply", "out_of_area", "timing", "duplicate", "other"]
Source = Annotated[str, StringConstraints(max_length=60)]
Service = Annotated[str, StringConstraints(max_length=120)]


@tool(label=gettext_lazy("List leads"), permission="view_records", effects=())
class ListLeads:
    """List leads filtered by stage, source, owner or age."""

    class Arguments(ToolArguments):
        stage: Stage | None = None
        source: Word | None = None
        owner_ref: Ref | None = None
        older_than_days: Days | None = None
        limit: Limit = 20

    def run(ctx: Context, arguments: Any) -> ReadResult:
        leads = Lead.objects.filter(deleted_at=None).select_related("owner")
        if arguments.stage:
            leads = leads.filter(stage=arguments.stage)
        if arguments.source:
            leads = leads.filter(source__icontains=arguments.source)
        if arguments.owner_ref:
            leads = leads.filter(owner=member_by_ref(arguments.owner_ref))
        if arguments.older_than_days is not None:
            leads = leads.filter(created_at__lte=timezone.now() - timedelta(days=arguments.older_than_days))
        found = list(leads.order_by("-created_at", "-id")[: arguments.limit + 1])
        shown = found[: arguments.limit]
        data = {
            "leads": [lead_line(lead) for lead in shown],
            "currency": ctx.company.currency,
            "more": len(found) > len(shown),
        }
        return ReadResult(data, outside=outside_of(*shown))


@tool(label=gettext_lazy("Read a lead"), permission="view_records", effects=())
class GetLead:
    """Full lead: contact, site, source, stage history, notes, linked quotes."""

    class Arguments(ToolArguments):
        lead_ref: Ref

    def run(ctx: Context, arguments: Any) -> ReadResult:
        lead = lead_of(arguments.lead_ref)
        quotes = list(lead.quotes.filter(deleted_at=None).select_related("client", "lead").order_by("-created_at"))
        newest = newest_revisions(quotes)
        data = lead_whole(lead) | {
            "quotes": [brief(quote, newest.get(quote.pk)) for quote in quotes],
            "currency": ctx.company.currency,
        }
        return ReadResult(data, outside=outside_of(lead), touched=(lead.ref,))


@tool(label=gettext_lazy("Add a lead"), permission="create_lead", effects=())
class CreateLead:
    """Create a lead. Warns about probable duplicates (same phone, e-mail or address) and returns them instead of
    creating when `on_duplicate=ask`."""

    class Arguments(ToolArguments):
        name: Name
        phone: Phone = ""
        email: EmailText = ""
        address: AddressFields | None = None
        source: Source = ""
        service: Service = ""
        notes: Annotated[str, StringConstraints(max_length=2000)] = ""
        on_duplicate: OnDuplicate = "ask"

    def run(ctx: Context, arguments: Any) -> ReadResult:
        lead = create_lead(
            by=ctx.member,
            name=arguments.name,
            phone=arguments.phone,
            email=arguments.email,
            address=arguments.address.model_dump() if arguments.address else None,
            source=arguments.source,
            service=arguments.service,
            notes=arguments.notes,
            on_duplicate=arguments.on_duplicate,
        )
        return _answer(lead)


class LeadPatch(Patch):
    """What may be changed of a lead; what is not named stays."""

    name: Name = ""
    phone: Phone = ""
    email: EmailText = ""
    address: AddressFields = AddressFields(line1="", city="")
    source: Source = ""
    service: Service = ""
    value: Money = "0"
    owner_ref: Ref = ""


@tool(label=gettext_lazy("Change a lead"), permission="update_lead", effects=())
class UpdateLead:
    """Change contact data, source, expected value or service of a lead."""

    class Arguments(ToolArguments):
        lead_ref: Ref
        expected_version: int
        patch: LeadPatch

    def run(ctx: Context, arguments: Any) -> ReadResult:
        changes = changes_of(arguments.patch)
        if "value" in changes:
            changes["value_cents"] = parse_money(changes.pop("value"))
        if "owner_ref" in changes:
            changes["owner"] = member_by_ref(changes.pop("owner_ref"))
        lead = lead_of(arguments.lead_ref)
        return _answer(update_lead(lead, by=ctx.member, expected_version=arguments.expected_version, changes=changes))


@tool(label=gettext_lazy("Move a lead"), permission="move_lead_stage", effects=())
class MoveLeadStage:
    """Move a lead on the kanban. `lost` needs a reason."""

    class Arguments(ToolArguments):
        lead_ref: Ref
        stage: Movable
        lost_reason: Reason | None = None
        note: Annotated[str, StringConstraints(max_length=500)] = ""

    def run(ctx: Context, arguments: Any) -> ReadResult:
        lead = move_lead_stage(
            lead_of(arguments.lead_ref),
            by=ctx.member,
            stage=arguments.stage,
            lost_reason=arguments.lost_reason or "",
            note=arguments.note,
        )
        return _answer(lead)


@tool(
    label=gettext_lazy("Convert lead to client"),
    permission="convert_lead_to_client",
    effects={Effect.PERMANENT},
    irreversible=True,
    on_reject=OnReject.ABORT,
    promises={"client": "there"},
)
class ConvertLeadToClient:
    """Turn a lead into a client and site; carries quotes, notes and files. Cannot be reversed once the client has
    documents."""

    class Arguments(ToolArguments):
        lead_ref: Ref
        merge_into_client_ref: Ref | None = None
        as_new: Annotated[
            bool, Field(description="true only after the user said that none of the candidates is it")
        ] = False
        subject_hint: SubjectHint | None = None

    def prepare(ctx: Context, arguments: Any) -> Prepared:
        lead = lead_of(arguments.lead_ref)
        require_subject(arguments.subject_hint, party_candidate(lead), namesakes(lead))
        client = by_ref(Client, arguments.merge_into_client_ref) if arguments.merge_into_client_ref else None
        return conversion_card(lead, client, as_new=arguments.as_new)

    def execute(ctx: Context, payload: dict[str, Any], key: uuid.UUID) -> Receipt:
        merge_into = Client.objects.get(pk=payload["client"]) if payload["client"] else None
        client = convert_lead_to_client(
            Lead.objects.get(pk=payload["lead"]),
            by=ctx.member,
            merge_into=merge_into,
            as_new=payload["as_new"],
            expected_version=payload["version"],
        )
        words = {"lead": payload["ref"], "client": client.ref, "name": client.name}
        return Receipt(_("%(lead)s is now client %(client)s, %(name)s.") % words, facts={"client": client.ref})


@tool(
    label=gettext_lazy("Delete lead"),
    permission="delete_lead",
    effects={Effect.REMOVAL},
    compensation="restore_record",
    on_reject=OnReject.ABORT,
    promises={"lead": "trashed"},
)
class DeleteLead:
    """Move a lead to the trash (restorable for 30 days, then erased)."""

    class Arguments(ToolArguments):
        lead_ref: Ref
        subject_hint: SubjectHint

    def prepare(ctx: Context, arguments: Any) -> Prepared:
        lead = lead_of(arguments.lead_ref)
        require_subject(arguments.subject_hint, party_candidate(lead), namesakes(lead))
        return delete_lead_card(lead, ctx.company.currency)

    def execute(ctx: Context, payload: dict[str, Any], key: uuid.UUID) -> Receipt:
        lead = delete_lead(Lead.objects.get(pk=payload["lead"]), by=ctx.member, expected_version=payload["version"])
        return Receipt(_("Lead %(ref)s is in the trash.") % {"ref": lead.ref}, facts={"lead": lead.ref})

    def reverse(payload: dict[str, Any], receipt: dict[str, Any]) -> dict[str, Any]:
        return {"record_ref": payload["ref"]}


def lead_of(ref: str) -> Lead:
    """The lead of that ref with what is told of it. Raises NotFound."""
    return by_ref(Lead.objects.select_related("owner", "converted_client"), ref)


def member_by_ref(ref: str) -> Membership:
    """The active member of that ref. Raises NotFound."""
    member = Membership.objects.filter(ref=ref, active=True).first()
    if member is None:
        raise NotFound(_("There is no member %(ref)s.") % {"ref": ref}, ref=ref)
    return member


def _answer(lead: Lead) -> ReadResult:
    told = lead_line(lead_of(lead.ref))
    return ReadResult(told, touched=(lead.ref,))
