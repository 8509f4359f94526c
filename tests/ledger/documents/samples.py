"""Documents to set: an ordinary one of each kind, and ways to change them."""

import dataclasses
from datetime import date
from decimal import Decimal
from typing import Any

from ledger import money
from ledger.documents import Addressee, InvoiceDocument, Letterhead, Paper, PaperLine, QuoteDocument
from ledger.money import MoneySettings, Portion, TaxMode

LONE_RIDGE = Letterhead(
    name="Lone Ridge Roofing LLC",
    country="US",
    address="501 Palm Valley Blvd, Round Rock, TX 78664",
    phone="(512) 555-0100",
    email="office@loneridge.example",
    tax_id="741234567",
)
AURORA = Letterhead(
    name="Telhados Aurora Ltda",
    country="BR",
    address="Rua das Palmeiras, 88, Campinas - SP",
    phone="(19) 3555-0100",
    tax_id="12ABC34501DE35",
)
SMITH = Addressee(name="John Smith", address="1418 Cedar Bend Dr, Austin, TX 78758", email="john.smith@example.com")
SILVA = Addressee(name="João Silva", address="Rua das Acácias, 120, Campinas - SP", tax_id="52998224725")
DEPOSIT = Portion(percent=Decimal(30))


def line(description: str, quantity: str, price: str, rate: str = "0", **changes: Any) -> PaperLine:
    unit, group = changes.pop("unit", ""), changes.pop("group", "")
    return PaperLine(description, money.Line(Decimal(quantity), Decimal(price), Decimal(rate), **changes), unit, group)


def quote(**changes: Any) -> QuoteDocument:
    """The roof quote of vector `us_mixed_tax_doc_pct`, with one option; any field may be replaced."""
    lines = (
        line("Architectural shingles", "28", "145.00", "8.25", unit="sq", group="Materials"),
        line("Tear-off and install labor", "28", "210.00", unit="sq", group="Labor"),
        line("Chimney flashing kit", "1", "385.50", "8.25", unit="ea"),
        line("Ridge vent", "42", "6.75", "8.25", unit="lf", optional=True),
    )
    fields: dict[str, Any] = {
        "number": "Q-1042",
        "title": "Full roof replacement",
        "locale": "en-US",
        "currency": "USD",
        "company": LONE_RIDGE,
        "client": SMITH,
        "lines": lines,
        "settings": MoneySettings(discount=Portion(percent=Decimal(5)), deposit=DEPOSIT),
        "issued_on": date(2026, 11, 29),
        "valid_until": date(2026, 12, 29),
        "terms": "Work starts within ten days.\nThe balance is due on completion.",
        "tax_name": "Sales tax",
    } | changes
    fields.setdefault("totals", money.totals([row.money for row in fields["lines"]], fields["settings"]))
    return QuoteDocument(**fields)


def brazilian_quote(**changes: Any) -> QuoteDocument:
    """Gutters in Campinas, ISS inside the price."""
    return quote(
        **{
            "number": "ORC-0310",
            "title": "Troca de calhas e rufos",
            "locale": "pt-BR",
            "currency": "BRL",
            "company": AURORA,
            "client": SILVA,
            "lines": (
                line("Calha galvanizada", "34", "78.00", "5", unit="m"),
                line("Rufo pingadeira", "18.5", "52.3333", "5", unit="m"),
            ),
            "settings": MoneySettings(tax_mode=TaxMode.INCLUSIVE),
            "terms": "",
            "tax_name": "ISS",
        }
        | changes
    )


def invoice(of: QuoteDocument | None = None, **changes: Any) -> InvoiceDocument:
    """The bill for a quote; any field may be replaced."""
    shared = {field.name: getattr(of or quote(), field.name) for field in dataclasses.fields(Paper)}
    dates = {"issued_on": date(2026, 12, 1), "due_on": date(2026, 12, 16)}
    return InvoiceDocument(**(shared | dates | {"number": "INV-0238"} | changes))
