"""What keeps a client from being deleted: documents that went out, invoices, money (I9). Counted for the card, and
again under the row lock for the deed.
"""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, Sum
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from ledger import reader
from ledger.actions import columns
from ledger.errors import DomainError
from ledger.models import Client, Invoice, Payment, Quote
from ledger.money import amount_text

OPEN_INVOICE = Q(status__in=Invoice.PAYABLE, balance_cents__gt=0)


@dataclass(frozen=True)
class Documents:
    """How many documents a client has, those in the trash left out. Cents in the company's currency."""

    quotes_out: int
    quotes_draft: int
    invoices: int
    invoices_draft: int
    invoices_open: int
    open_cents: int
    payments: int

    @property
    def hold(self) -> bool:
        """Whether anything here forbids deleting."""
        return bool(self.quotes_out or self.invoices or self.payments)

    def as_json(self) -> dict[str, Any]:
        return {
            "quotes": self.quotes_out,
            "draft_quotes": self.quotes_draft,
            "invoices": self.invoices,
            "draft_invoices": self.invoices_draft,
            "open_invoices": self.invoices_open,
            "open_amount": amount_text(self.open_cents),
            "payments": self.payments,
        }

    def in_words(self) -> str:
        """What holds, as a person reads it: "2 invoices (1 open, $4,180.25)"."""
        parts = []
        if self.invoices:
            counted = ngettext("%(n)d invoice", "%(n)d invoices", self.invoices) % {"n": self.invoices}
            owed = reader.amount(self.open_cents, columns.company().currency)
            still = ngettext("%(n)d open, %(amount)s", "%(n)d open, %(amount)s", self.invoices_open)
            still %= {"n": self.invoices_open, "amount": owed}
            parts.append(f"{counted} ({still})" if self.invoices_open else counted)
        if self.payments:
            parts.append(ngettext("%(n)d payment", "%(n)d payments", self.payments) % {"n": self.payments})
        if self.quotes_out:
            sent = ngettext("%(n)d quote that went out", "%(n)d quotes that went out", self.quotes_out)
            parts.append(sent % {"n": self.quotes_out})
        return ", ".join(parts)


def documents_of(client: Client) -> Documents:
    """The client's documents: three queries, whatever their number."""
    quotes = Quote.objects.filter(client=client, deleted_at=None).aggregate(
        out=Count("pk", filter=~Q(status__in=Quote.DELETABLE)), draft=Count("pk", filter=Q(status=Quote.Status.DRAFT))
    )
    draft = Q(status=Invoice.Status.DRAFT)
    invoices = Invoice.objects.filter(client=client, deleted_at=None).aggregate(
        issued=Count("pk", filter=~draft),
        draft=Count("pk", filter=draft),
        open=Count("pk", filter=OPEN_INVOICE),
        cents=Sum("balance_cents", filter=OPEN_INVOICE),
    )
    return Documents(
        quotes_out=quotes["out"],
        quotes_draft=quotes["draft"],
        invoices=invoices["issued"],
        invoices_draft=invoices["draft"],
        invoices_open=invoices["open"],
        open_cents=int(invoices["cents"] or 0),
        payments=Payment.objects.filter(client=client).count(),
    )


def refuse_archive_client(client: Client) -> None:
    """Raises HAS_OPEN_DOCUMENTS with the refs of the quotes and invoices that are open with the client."""
    quotes = Quote.objects.filter(client=client, deleted_at=None, status__in=Quote.OPEN)
    invoices = Invoice.objects.filter(OPEN_INVOICE, client=client, deleted_at=None)
    refs = [
        *invoices.order_by("ref").values_list("ref", flat=True),
        *quotes.order_by("ref").values_list("ref", flat=True),
    ]
    if refs:
        sentence = _("%(ref)s still has open documents: %(refs)s.") % {"ref": client.ref, "refs": ", ".join(refs)}
        raise DomainError("HAS_OPEN_DOCUMENTS", sentence, documents=refs)


def refuse_delete_client(client: Client) -> None:
    """Raises HAS_ISSUED_DOCUMENTS with the counts; for the card before anybody is asked, and for the deed (H26)."""
    documents = documents_of(client)
    if documents.hold:
        sentence = _("%(ref)s has %(documents)s and cannot be deleted; it can be archived.") % {
            "ref": client.ref,
            "documents": documents.in_words(),
        }
        raise DomainError("HAS_ISSUED_DOCUMENTS", sentence, offer="archive_client", **documents.as_json())
