"""What a document says: plain values, frozen, complete. Nothing here reads a row or a setting.

Amounts are whole cents, days are the company's days, texts are as stored. `ledger.documents.wording` turns one
into what is printed, in the document's own language.
"""

from dataclasses import dataclass
from datetime import date

from ledger import money
from ledger.money import MoneySettings, Totals


@dataclass(frozen=True, slots=True)
class Letterhead:
    """The company at the head of its paper. `country` (US, BR) decides the size of the sheet."""

    name: str
    country: str
    address: str = ""
    phone: str = ""
    email: str = ""
    tax_id: str = ""


@dataclass(frozen=True, slots=True)
class Addressee:
    """The client or the lead to whom it goes."""

    name: str
    contact: str = ""
    address: str = ""
    email: str = ""
    phone: str = ""
    tax_id: str = ""


@dataclass(frozen=True, slots=True)
class PaperLine:
    """One line as the client reads it; `money` holds its figures, `group` a heading it stands under."""

    description: str
    money: money.Line
    unit: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """What quotes and invoices share. `totals` must be those of `lines` under `settings` (I3).

    `locale` is the client's (en-US, pt-BR): labels, dates and amounts follow it. `number` is None while none has
    been assigned. `tax_name` is the company's word for its tax ("Sales tax", "ISS").
    """

    number: str | None
    title: str
    locale: str
    currency: str
    company: Letterhead
    client: Addressee
    lines: tuple[PaperLine, ...]
    settings: MoneySettings
    totals: Totals
    site: str = ""
    terms: str = ""
    tax_name: str = ""

    def __post_init__(self) -> None:
        if money.totals([line.money for line in self.lines], self.settings) != self.totals:
            raise ValueError("these are not the totals of these lines")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteDocument(Paper):
    """An offer. Optional lines that are not selected stand apart, outside the total."""

    revision: int = 1
    issued_on: date
    valid_until: date | None = None
    accept_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoiceDocument(Paper):
    """A bill. `received_cents` and `credited_cents` are what has been paid and credited so far."""

    issued_on: date
    due_on: date
    po_number: str = ""
    payment: str = ""
    received_cents: int = 0
    credited_cents: int = 0

    def __post_init__(self) -> None:
        super(InvoiceDocument, self).__post_init__()
        if min(self.received_cents, self.credited_cents, self.balance_cents) < 0:
            raise ValueError("an invoice's balance is never below zero")

    @property
    def balance_cents(self) -> int:
        """What is still to be paid, in cents."""
        return self.totals.total - self.credited_cents - self.received_cents
