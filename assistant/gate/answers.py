"""What the records say to a question about a card: who it is for, what was written, what is open, what was done."""

from typing import TypeAlias

from django.db.models import Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from assistant.models import Message, PendingAction, Status
from assistant.tools.facts import Fact, money
from ledger.actions.columns import company
from ledger.actions.holds import OPEN_INVOICE
from ledger.actions.search_sources import with_totals
from ledger.models import Client, ClientMessage, Invoice, Lead, Payment, Quote

Party: TypeAlias = Client | Lead
Facts: TypeAlias = list[Fact]

LEADS_TO = ("client", "lead", "quote", "invoice", "payment")
"""Kinds of records by which a client or lead is found."""
LAST = 3
OPEN_EACH = 5
LOOKED_BACK = 2000
"""Executed actions of the tool, newest first, among which the party's are looked for."""
LONGEST = 2000
NOT_WRITTEN = (ClientMessage.Status.DRAFT, ClientMessage.Status.DISCARDED)


def party_of(action: PendingAction) -> Party | None:
    """The client or lead that the card is for: the first one it names, else that of its first document."""
    named = sorted(action.targets, key=lambda target: target["kind"] not in ("client", "lead"))
    for target in named:
        match target["kind"]:
            case "client":
                return Client.objects.filter(pk=target["id"]).first()
            case "lead":
                return Lead.objects.filter(pk=target["id"]).first()
            case "quote":
                quote = Quote.objects.select_related("client", "lead").filter(pk=target["id"]).first()
                return (quote.client or quote.lead) if quote else None
            case "invoice":
                invoice = Invoice.objects.select_related("client").filter(pk=target["id"]).first()
                return invoice.client if invoice else None
            case "payment":
                payment = Payment.objects.select_related("client").filter(pk=target["id"]).first()
                return payment.client if payment else None
    return None


def who(action: PendingAction, party: Party) -> list[Facts]:
    """What is on record of the client or lead."""
    facts = [Fact("name", "text", party.name), Fact("record", "ref", party.ref)]
    if isinstance(party, Client):
        contact = party.main_contact
        email, phone = (contact.email, contact.phone) if contact else ("", "")
    else:
        email, phone = party.email, party.phone
        facts.append(Fact("stage", "code", f"lead_{party.stage}"))
    reached = (Fact("city", "text", party.city), Fact("email", "email", email), Fact("phone", "text", phone))
    facts += [fact for fact in reached if fact.value]
    facts.append(Fact("on_record_since", "date", timezone.localdate(party.created_at)))
    if isinstance(party, Client) and party.blocked:
        facts.append(Fact("blocked", "code", "yes"))
    if party.deleted_at:
        facts.append(Fact("in_the_trash", "code", "yes"))
    return [facts]


def last_messages(action: PendingAction, party: Party) -> list[Facts]:
    """The last messages to and from them, newest first."""
    rows = ClientMessage.objects.filter(_of(party), deleted_at=None).exclude(status__in=NOT_WRITTEN)
    rows = rows.annotate(on=Coalesce("sent_at", "created_at")).order_by("-on", "-pk")
    return [
        [
            Fact("day", "date", timezone.localdate(row.on)),
            Fact("subject", "text", row.subject or " ".join(row.body.split())[:80]),
            Fact("status", "code", f"message_{row.status}"),
            Fact("record", "ref", row.ref),
        ]
        for row in rows[:LAST]
    ]


def open_with(action: PendingAction, party: Party) -> list[Facts]:
    """Open quotes, invoices that are not paid, credit: the newest of each, and how many more there are."""
    quotes = with_totals(Quote.objects.filter(_of(party), deleted_at=None, status__in=Quote.OPEN))
    found = [
        [
            Fact("quote", "ref", quote.ref),
            Fact("title", "text", quote.title),
            Fact("total", "money", money(quote.total_cents or 0, quote.currency)),
            Fact("status", "code", f"quote_{quote.status}"),
        ]
        for quote in quotes.order_by("-created_at", "-pk")[:OPEN_EACH]
    ]
    more = quotes.count() - len(found)
    if isinstance(party, Client):
        invoices = Invoice.objects.filter(OPEN_INVOICE, client=party, deleted_at=None)
        shown = list(invoices.order_by("due_on", "pk")[:OPEN_EACH])
        more += invoices.count() - len(shown)
        found += [
            [
                Fact("invoice", "ref", one.ref),
                Fact("balance", "money", money(one.balance_cents, one.currency)),
                Fact("due_date", "date", one.due_on),
                Fact("status", "code", f"invoice_{one.status}"),
            ]
            for one in shown
        ]
        if party.credit_cents:
            found.append([Fact("client_credit", "money", money(party.credit_cents, company().currency))])
    return [*found, [Fact("more_of_them", "count", more)]] if more else found


def done_before(action: PendingAction, party: Party) -> list[Facts]:
    """The last time that this was done for the same client or lead, newest first."""
    done = PendingAction.objects.filter(tool=action.tool, status=Status.EXECUTED).order_by("-closed_at", "-pk")
    documents = [target["id"] for target in action.targets if target["kind"] not in ("client", "lead")]
    same = Q(targets__contains=[{"id": str(party.pk)}])
    for document in documents:
        same |= Q(targets__contains=[{"id": document}])
    rows = PendingAction.objects.filter(same, pk__in=done.values("pk")[:LOOKED_BACK])
    rows = rows.only("pk", "closed_at", "summary", "amount_cents").order_by("-closed_at", "-pk")
    return [
        [
            Fact("day", "date", timezone.localdate(row.closed_at or row.created_at)),
            Fact("what", "text", row.summary),
            *([Fact("amount", "money", money(row.amount_cents, company().currency))] if row.amount_cents else []),
        ]
        for row in rows[:LAST]
    ]


def origin(action: PendingAction) -> list[Facts]:
    """The person's words of that turn, and no others (settled question 17); what it read from outside."""
    words = Message.objects.filter(turn=action.turn_id, role=Message.Role.USER).exclude(text="")
    found = [
        [
            Fact("said_by", "text", message.author.name if message.author else ""),
            Fact("said_at", "datetime", message.created_at),
            Fact("words", "long", message.text[:LONGEST]),
        ]
        for message in words.select_related("author").order_by("position")
    ]
    read = list(dict.fromkeys(source["ref"] for source in action.outside))
    return [*found, [Fact("read_from_outside", "text", ", ".join(read))]] if read else found


def _of(party: Party) -> Q:
    return Q(client=party) if isinstance(party, Client) else Q(lead=party)
