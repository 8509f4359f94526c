"""Clients: look, add, change, archive; deleting one puts up a card."""

import uuid
from datetime import timedelta
from typing import Annotated, Any, Literal

from django.db.models import Exists, OuterRef, Sum
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field, StringConstraints

from assistant.tools.effects import Effect
from assistant.tools.fields import EmailText, Ref, SubjectHint
from assistant.tools.party_cards import delete_client_card
from assistant.tools.party_fields import AddressFields, Days, Limit, Name, OnDuplicate, Patch, Phone, Word, changes_of
from assistant.tools.party_words import client_line, client_whole, namesakes, outside_of, party_candidate
from assistant.tools.registry import Context, OnReject, Prepared, ReadResult, Receipt, ToolArguments, tool
from assistant.tools.subjects import require_subject
from ledger.actions.clients import archive_client, create_client, delete_client, update_client
from ledger.actions.holds import OPEN_INVOICE, documents_of
from ledger.actions.records import by_ref
from ledger.actions.search_sources import open_documents
from ledger.actions.sites import add_site
from ledger.models import Client, ClientMessage, Invoice, Quote
from ledger.money import amount_text

TaxId = Annotated[str, StringConstraints(max_length=20)]
Tags = Annotated[list[Annotated[str, StringConstraints(max_length=40)]], Field(max_length=50)]
MOST_MESSAGES = 5


@tool(label=gettext_lazy("List clients"), permission="view_records", effects=())
class ListClients:
    """List clients by tag, city, balance, last activity or archived state."""

    class Arguments(ToolArguments):
        tag: Word | None = None
        city: Word | None = None
        with_balance: bool | None = None
        inactive_days: Days | None = None
        archived: bool = False
        limit: Limit = 20

    def run(ctx: Context, arguments: Any) -> ReadResult:
        clients = Client.objects.filter(deleted_at=None, archived_at__isnull=not arguments.archived)
        if arguments.tag:
            clients = clients.filter(tags__contains=[arguments.tag])
        if arguments.city:
            clients = clients.filter(city__iexact=arguments.city)
        if arguments.with_balance is not None:
            owes = Exists(Invoice.objects.filter(OPEN_INVOICE, client=OuterRef("pk"), deleted_at=None))
            clients = clients.filter(owes if arguments.with_balance else ~owes)
        if arguments.inactive_days is not None:
            clients = _quiet_since(clients, arguments.inactive_days)
        found = list(clients.prefetch_related("contacts").order_by("name_key", "ref")[: arguments.limit + 1])
        shown = found[: arguments.limit]
        owed = dict(
            Invoice.objects.filter(OPEN_INVOICE, client__in=shown, deleted_at=None)
            .values_list("client")
            .annotate(cents=Sum("balance_cents"))
        )
        data = {
            "clients": [client_line(one) | {"balance": amount_text(owed.get(one.pk, 0))} for one in shown],
            "currency": ctx.company.currency,
            "more": len(found) > len(shown),
        }
        return ReadResult(data, outside=outside_of(*shown))


@tool(label=gettext_lazy("Read a client"), permission="view_records", effects=())
class GetClient:
    """Full client: contacts, consents, sites, balance, open documents, contracts, recent messages. Tax ids come
    masked."""

    class Arguments(ToolArguments):
        client_ref: Ref

    def run(ctx: Context, arguments: Any) -> ReadResult:
        client = client_of(arguments.client_ref)
        documents = documents_of(client)
        messages = list(client.messages.filter(deleted_at=None).order_by("-created_at")[:MOST_MESSAGES])
        data = client_whole(client) | {
            "balance": amount_text(documents.open_cents),
            "currency": ctx.company.currency,
            "documents": documents.as_json(),
            "open": open_documents([("client", client.pk)], each=10).get(("client", client.pk), []),
            "messages": [_message(message) for message in messages],
        }
        received = [message for message in messages if message.direction == ClientMessage.Direction.IN]
        return ReadResult(data, outside=(*outside_of(client), *outside_of(*received)), touched=(client.ref,))


@tool(label=gettext_lazy("Add a client"), permission="create_client", effects=())
class CreateClient:
    """Create a client directly (no lead). Validates phone, e-mail and CPF/CNPJ/EIN; reports probable duplicates."""

    class Arguments(ToolArguments):
        kind: Literal["person", "company"]
        name: Name
        tax_id: TaxId = ""
        email: EmailText = ""
        phone: Phone = ""
        billing_address: AddressFields | None = None
        language: Literal["en-US", "pt-BR"] | None = None
        tags: Tags = Field(default_factory=list)
        on_duplicate: OnDuplicate = "ask"

    def run(ctx: Context, arguments: Any) -> ReadResult:
        client = create_client(
            by=ctx.member,
            kind=arguments.kind,
            name=arguments.name,
            tax_id=arguments.tax_id,
            email=arguments.email,
            phone=arguments.phone,
            address=arguments.billing_address.model_dump() if arguments.billing_address else None,
            language=arguments.language or "",
            tags=arguments.tags,
            on_duplicate=arguments.on_duplicate,
        )
        return _answer(client)


class ClientPatch(Patch):
    """What may be changed of a client; what is not named stays. E-mail and phone are the main contact's."""

    name: Name = ""
    kind: Literal["person", "company"] = "person"
    tax_id: TaxId = ""
    contact_name: Word = ""
    email: EmailText = ""
    phone: Phone = ""
    billing_address: AddressFields = AddressFields(line1="", city="")
    language: Literal["en-US", "pt-BR"] = "en-US"
    terms_days: Annotated[int, Field(ge=0, le=365)] | None = None
    tags: Tags = Field(default_factory=list)
    blocked: bool = False
    archived: Literal[False] = False


@tool(label=gettext_lazy("Change a client"), permission="update_client", effects=())
class UpdateClient:
    """Change client data. Changing e-mail or phone flags the next outgoing card 'recipient changed <n> h ago'."""

    class Arguments(ToolArguments):
        client_ref: Ref
        expected_version: int
        patch: ClientPatch

    def run(ctx: Context, arguments: Any) -> ReadResult:
        client = update_client(
            client_of(arguments.client_ref),
            by=ctx.member,
            expected_version=arguments.expected_version,
            changes=changes_of(arguments.patch),
        )
        return _answer(client)


@tool(label=gettext_lazy("Add a site"), permission="update_client", effects=())
class AddClientSite:
    """Add a property/job site with address, access notes and roof data."""

    class Arguments(ToolArguments):
        client_ref: Ref
        address: AddressFields
        label: Annotated[str, StringConstraints(max_length=80)] = ""
        access_notes: Annotated[str, StringConstraints(max_length=500)] = ""

    def run(ctx: Context, arguments: Any) -> ReadResult:
        client = client_of(arguments.client_ref)
        address = arguments.address.model_dump()
        site = add_site(
            client, by=ctx.member, address=address, label=arguments.label, access_notes=arguments.access_notes
        )
        return ReadResult(
            {"site": site.ref, "client": client.ref, "address": site.address}, touched=(client.ref, site.ref)
        )


@tool(label=gettext_lazy("Archive a client"), permission="archive_client", effects=())
class ArchiveClient:
    """Hide a client from lists; documents stay. Fails with an open balance unless force."""

    class Arguments(ToolArguments):
        client_ref: Ref
        force: bool = False

    def run(ctx: Context, arguments: Any) -> ReadResult:
        return _answer(archive_client(client_of(arguments.client_ref), by=ctx.member, force=arguments.force))


@tool(
    label=gettext_lazy("Delete client"),
    permission="delete_client",
    effects={Effect.REMOVAL},
    compensation="restore_record",
    on_reject=OnReject.ABORT,
    promises={"client": "trashed"},
)
class DeleteClient:
    """Move a client to the trash. Blocked by issued invoices, payments, active contracts or open projects: then
    archive or anonymise."""

    class Arguments(ToolArguments):
        client_ref: Ref
        subject_hint: SubjectHint

    def prepare(ctx: Context, arguments: Any) -> Prepared:
        client = client_of(arguments.client_ref)
        require_subject(arguments.subject_hint, party_candidate(client), namesakes(client))
        return delete_client_card(client)

    def execute(ctx: Context, payload: dict[str, Any], key: uuid.UUID) -> Receipt:
        client = delete_client(
            Client.objects.get(pk=payload["client"]), by=ctx.member, expected_version=payload["version"]
        )
        return Receipt(_("Client %(ref)s is in the trash.") % {"ref": client.ref}, facts={"client": client.ref})

    def reverse(payload: dict[str, Any], receipt: dict[str, Any]) -> dict[str, Any]:
        return {"record_ref": payload["ref"]}


def client_of(ref: str) -> Client:
    """The client of that ref with contacts and sites. Raises NotFound."""
    return by_ref(Client.objects.prefetch_related("contacts", "sites"), ref)


def _quiet_since(clients: Any, days: int) -> Any:
    """Those with whom nothing was written, neither on their record nor on a document of theirs, for so many days."""
    since = timezone.now() - timedelta(days=days)
    for model in (Quote, Invoice, ClientMessage):
        recent = model._default_manager.filter(client=OuterRef("pk"), updated_at__gt=since)
        clients = clients.exclude(Exists(recent))
    return clients.filter(updated_at__lte=since)


def _message(message: ClientMessage) -> dict[str, Any]:
    return {
        "ref": message.ref,
        "direction": message.direction,
        "channel": message.channel,
        "subject": message.subject,
        "status": message.status,
        "on": timezone.localdate(message.created_at).isoformat(),
    }


def _answer(client: Client) -> ReadResult:
    return ReadResult(client_line(client_of(client.ref)), touched=(client.ref,))
