"""What is printed: every figure as the books have it, every word in the document's language."""

import dataclasses
from datetime import date
from decimal import Decimal

import polib
import pytest
from django.utils import translation
from django.utils.translation import trans_real

from ledger.documents import Addressee
from ledger.documents.wording import words_of
from ledger.locales import plain
from ledger.money import MoneySettings, Portion, TaxRounding
from tests.ledger.documents import samples


def rows(words, part: str) -> list[tuple[str, str]]:
    return [(row["label"], plain(row["amount"])) for row in words[part]]


def test_the_sums_of_a_quote_are_those_of_its_totals():
    words = words_of(samples.quote())
    assert rows(words, "sums") == [
        ("Subtotal", "$10,325.50"),
        ("Discount (5%)", "−$516.28"),
        ("Sales tax 8.25% on $4,223.22", "$348.42"),
    ]
    assert (words["total"]["label"], words["total"]["amount"]) == ("Total", "$10,157.64")
    assert rows(words, "after") == [("Deposit to begin (30%)", "$3,047.29"), ("Balance on completion", "$7,110.35")]


def test_a_tax_inside_the_price_is_shown_after_the_total_and_changes_nothing():
    words = words_of(samples.brazilian_quote())
    assert rows(words, "sums") == []
    assert plain(words["total"]["amount"]) == "R$ 3.620,17"
    assert rows(words, "after") == [("ISS 5% incluído", "R$ 172,39")]


def test_h08_a_line_can_be_checked_by_hand():
    [first, second] = words_of(samples.brazilian_quote())["lines"]
    assert [plain(first[part]) for part in ("quantity", "price", "amount")] == ["34 m", "R$ 78,00", "R$ 2.652,00"]
    assert [plain(second[part]) for part in ("quantity", "price", "amount")] == ["18,5 m", "R$ 52,3333", "R$ 968,17"]


def test_a_line_discount_is_named_on_its_line():
    [row] = words_of(
        samples.quote(
            lines=(samples.line("Kit", "1", "385.50", discount=Portion(percent=Decimal(10))),), settings=MoneySettings()
        )
    )["lines"]
    assert (row["notes"], row["amount"]) == (["Discount (10%): −$38.55"], "$346.95")


def test_options_stand_apart_from_what_is_counted():
    words = words_of(samples.quote())
    assert [row["description"] for row in words["options"]] == ["Ridge vent"]
    assert [row["description"] for row in words["lines"]] == [
        "Architectural shingles",
        "Tear-off and install labor",
        "Chimney flashing kit",
    ]


def test_a_line_without_a_heading_does_not_slip_under_the_one_before_it():
    words = words_of(samples.quote())
    assert [row["group"] for row in words["lines"]] == ["Materials", "Labor", "Other"]
    assert [row["group"] for row in words["options"]] == [""]


def test_the_tax_column_is_there_only_where_rates_differ():
    assert words_of(samples.quote())["shows_tax"]
    assert [row["tax"] for row in words_of(samples.quote())["lines"]] == ["8.25%", "–", "8.25%"]
    assert not words_of(samples.brazilian_quote())["shows_tax"]


def test_each_country_has_its_sheet_dates_and_tax_numbers():
    american, brazilian = words_of(samples.quote()), words_of(samples.brazilian_quote())
    assert (american["sheet"], brazilian["sheet"]) == ("us-letter", "a4")
    assert american["facts"][0]["text"] == "November 29, 2026"
    assert brazilian["facts"][0]["text"] == "29 de novembro de 2026"
    assert american["company"]["lines"][-1] == "EIN 74-1234567"
    assert brazilian["company"]["lines"][-1] == "CNPJ 12.ABC.345/01DE-35"
    assert brazilian["client"]["lines"][-1] == "CPF 529.982.247-25"


def test_an_invoice_says_what_is_left_to_pay():
    words = words_of(
        samples.invoice(received_cents=304729, credited_cents=10000, po_number="PO 7", payment="By bank transfer.")
    )
    assert [(fact["label"], fact["text"]) for fact in words["facts"]] == [
        ("Issue date", "December 1, 2026"),
        ("Due date", "December 16, 2026"),
        ("Purchase order", "PO 7"),
    ]
    assert rows(words, "after") == [("Credited", "−$100.00"), ("Payments received", "−$3,047.29")]
    assert words["due"] == {"label": "Balance due", "amount": "$7,010.35", "note": "by December 16, 2026"}
    assert words["payment"]["paragraphs"] == ["By bank transfer."]


def test_a_paid_invoice_asks_for_nothing():
    words = words_of(samples.invoice(received_cents=1015764, payment="By bank transfer."))
    assert (words["due"]["amount"], words["payment"]) == ("$0.00", None)


def test_h16_a_draft_has_no_number():
    assert words_of(samples.invoice(number=None))["number"] == "Draft"


def test_totals_of_other_lines_are_refused():
    other = samples.quote(settings=MoneySettings(tax_rounding=TaxRounding.PER_LINE))
    with pytest.raises(ValueError, match="totals"):
        samples.quote(totals=other.totals, lines=other.lines[:2])
    with pytest.raises(ValueError, match="totals"):
        dataclasses.replace(samples.quote(), settings=MoneySettings())


def test_an_invoice_paid_above_its_total_is_refused():
    with pytest.raises(ValueError, match="below zero"):
        samples.invoice(received_cents=1015765)


def test_what_cannot_be_seen_is_not_printed():
    words = words_of(samples.quote(client=Addressee(name="Jo\u202ehn\x00 Sm\u200bith"), title="a\u202fb"))
    assert (words["client"]["name"], words["title"]) == ("John Smith", "a b")


@pytest.fixture
def portuguese(tmp_path, settings):
    """A catalogue of these tests' own, so that they do not depend on the product's translations."""
    folder = tmp_path / "pt_BR" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    catalogue = polib.POFile()
    catalogue.metadata = {"Content-Type": "text/plain; charset=utf-8"}
    for msgid, msgstr in (
        ("Quote", "Orçamento"),
        ("Valid until", "Válido até"),
        ("%(tax)s %(rate)s included", "%(tax)s %(rate)s incluso"),
    ):
        catalogue.append(polib.POEntry(msgid=msgid, msgstr=msgstr))
    catalogue.save_as_mofile(str(folder / "django.mo"))
    settings.LOCALE_PATHS = [str(tmp_path)]
    trans_real._translations.clear()
    yield
    trans_real._translations.clear()


@pytest.mark.usefixtures("portuguese")
def test_labels_are_in_the_documents_language_whatever_the_reader_speaks():
    with translation.override("en"):
        words = words_of(samples.brazilian_quote())
    assert (words["kind"], words["facts"][1]["label"]) == ("Orçamento", "Válido até")
    assert rows(words, "after") == [("ISS 5% incluso", "R$ 172,39")]
    with translation.override("pt-br"):
        assert words_of(samples.quote())["kind"] == "Quote"


def test_a_quote_without_a_last_day_names_none():
    words = words_of(samples.quote(valid_until=None, revision=2))
    assert [fact["label"] for fact in words["facts"]] == ["Date", "Revision"]
    assert words_of(samples.quote(issued_on=date(2027, 1, 5)))["facts"][0]["text"] == "January 5, 2027"
