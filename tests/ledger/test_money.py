"""Money: the field cases H01 to H07, the shared vectors, and what hostile numbers may not do."""

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.money import (
    MAX_CENTS,
    Line,
    MoneyError,
    MoneySettings,
    Portion,
    Rounding,
    TaxMode,
    TaxRounding,
    amount_text,
    format_money,
    line_amount,
    parse_money,
    percent_of,
    plain,
    share_out,
    totals,
)

VECTORS = json.loads((Path(__file__).parent.parent / "data" / "money_vectors.json").read_text())


def line(quantity: str, unit_price: str, tax_rate: str = "0", **kwargs: object) -> Line:
    return Line(Decimal(quantity), Decimal(unit_price), Decimal(tax_rate), **kwargs)  # type: ignore[arg-type]


def percent(text: str) -> Portion:
    return Portion(percent=Decimal(text))


def document(doc: dict) -> tuple[list[Line], MoneySettings]:
    discount = None
    if "discount_pct" in doc:
        discount = percent(doc["discount_pct"])
    elif "discount" in doc:
        discount = Portion(cents=parse_money(doc["discount"]))
    modes = {name: doc[name] for name in ("tax_mode", "tax_rounding", "rounding") if name in doc}
    deposit = percent(doc["deposit_pct"]) if "deposit_pct" in doc else None
    lines = [line(row["qty"], row["unit_price"], row["tax_rate"]) for row in doc["lines"]]
    return lines, MoneySettings(**modes, discount=discount, deposit=deposit)


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["name"] for vector in VECTORS])
def test_a_document_comes_to_its_vector(vector):
    computed = totals(*document(vector["doc"])).as_json()
    assert {name: computed[name] for name in vector["expect"]} == vector["expect"]


def test_h01_a_full_line_discount_leaves_exactly_nothing():
    result = totals([line("3.5", "21.29", discount=percent("100"))], MoneySettings())
    [row] = result.lines
    assert (row.gross, row.discount, row.net, result.total) == (7452, 7452, 0, 0)
    assert format_money(result.total, "USD", "en-US") == "$0.00"


def test_h02_tax_is_rounded_once_for_each_rate():
    lines = [line("1", "45.50", "8.25"), line("1", "18.70", "8.25")]
    once = totals(lines, MoneySettings())
    assert (once.subtotal, once.tax, once.total) == (6420, 530, 6950)
    by_line = totals(lines, MoneySettings(tax_rounding=TaxRounding.PER_LINE))
    assert (by_line.tax, by_line.total) == (529, 6949)


def test_h03_a_fixed_discount_comes_off_before_tax():
    result = totals([line("5", "36.00", "8.25")], MoneySettings(discount=Portion(cents=3000)))
    assert (result.subtotal, result.discount, result.tax_lines[0].base) == (18000, 3000, 15000)
    assert (result.tax, result.total) == (1238, 16238)


def test_h04_a_discount_split_in_three_adds_up():
    result = totals([line("1", "50.00")] * 3, MoneySettings(discount=Portion(cents=1000)))
    assert [row.discount_share for row in result.lines] == [334, 333, 333]
    assert [row.taxable for row in result.lines] == [4666, 4667, 4667]
    assert result.total == 14000


def test_h05_a_discount_over_a_taxed_and_an_exempt_line():
    lines = [line("1", "600.00"), line("1", "400.00", "7")]
    result = totals(lines, MoneySettings(discount=percent("10")))
    assert [row.discount_share for row in result.lines] == [6000, 4000]
    exempt, taxed = result.tax_lines
    assert (exempt.rate, exempt.base, exempt.tax) == (Decimal(0), 54000, 0)
    assert (taxed.rate, taxed.base, taxed.tax) == (Decimal(7), 36000, 2520)
    assert result.total == 92520


def test_h06_deposit_and_balance_make_the_whole():
    result = totals([line("1", "333.35")], MoneySettings(deposit=percent("30")))
    assert (result.deposit, result.balance) == (10001, 23334)
    assert result.deposit + result.balance == result.total == 33335


def test_h07_a_price_with_tax_inside_stays_that_price():
    result = totals([line("100", "0.85", "21")], MoneySettings(tax_mode=TaxMode.INCLUSIVE))
    assert (result.total, result.net, result.tax) == (8500, 7025, 1475)


def test_an_optional_line_counts_only_when_selected():
    lines = [line("1", "100.00", "10"), line("1", "40.00", "10", optional=True)]
    without = totals(lines, MoneySettings(discount=Portion(cents=1000)))
    assert [(row.net, row.discount_share, row.counts) for row in without.lines] == [
        (10000, 1000, True),
        (4000, 0, False),
    ]
    assert (without.subtotal, without.tax, without.total) == (10000, 900, 9900)
    chosen = [lines[0], line("1", "40.00", "10", optional=True, selected=True)]
    assert totals(chosen, MoneySettings()).total == 15400


def test_half_a_cent_goes_up_or_to_the_even_neighbour():
    halves = ["0.005", "0.015", "0.025", "0.035"]
    up = [line_amount(Decimal(1), Decimal(text)) for text in halves]
    even = [line_amount(Decimal(1), Decimal(text), Rounding.HALF_EVEN) for text in halves]
    assert (up, even) == ([1, 2, 3, 4], [0, 2, 2, 4])


def test_a_stored_word_for_a_mode_works_and_an_unknown_one_is_refused():
    assert MoneySettings(tax_mode="inclusive").tax_mode is TaxMode.INCLUSIVE  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="inclusiv"):
        MoneySettings(tax_mode="inclusiv")  # type: ignore[arg-type]
    assert line_amount(Decimal(1), Decimal("0.005"), "half_up") == 1  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("quantity", "unit_price", "code"),
    [
        ("NaN", "1", "NOT_A_NUMBER"),
        ("1", "Infinity", "NOT_A_NUMBER"),
        ("1", "sNaN", "NOT_A_NUMBER"),
        ("1", "1e400", "AMOUNT_TOO_LARGE"),
        ("1", "1e-999999", "TOO_MANY_DECIMALS"),
        ("1", "1e999999", "AMOUNT_TOO_LARGE"),
        ("-1", "1", "NEGATIVE_AMOUNT"),
        ("1", "-0.01", "NEGATIVE_AMOUNT"),
        ("0", "1", "QUANTITY_NOT_POSITIVE"),
        ("-0", "1", "QUANTITY_NOT_POSITIVE"),
        ("1.0001", "1", "TOO_MANY_DECIMALS"),
        ("1", "0.00001", "TOO_MANY_DECIMALS"),
        ("1000000000", "1", "AMOUNT_TOO_LARGE"),
        ("1", "10000000000", "AMOUNT_TOO_LARGE"),
        ("999999999.999", "9999999999.9999", "AMOUNT_TOO_LARGE"),
    ],
)
def test_a_number_that_no_column_holds_is_refused(quantity, unit_price, code):
    with pytest.raises(MoneyError) as refused:
        line_amount(Decimal(quantity), Decimal(unit_price))
    assert refused.value.code == code
    assert refused.value.sentence


def test_a_float_is_refused_even_where_it_looks_exact():
    with pytest.raises(MoneyError) as refused:
        line_amount(1.5, Decimal(1))  # type: ignore[arg-type]
    assert refused.value.code == "NOT_A_NUMBER"
    with pytest.raises(MoneyError):
        Portion(cents=1.0).of(100, Rounding.HALF_UP, "discount")  # type: ignore[arg-type]


def test_idle_zeros_are_no_decimals():
    assert line_amount(Decimal("2.0000000"), Decimal("10.000000")) == 2000


@pytest.mark.parametrize(
    ("discount", "code"),
    [
        (Portion(cents=10001), "MORE_THAN_THE_WHOLE"),
        (Portion(cents=-1), "NEGATIVE_AMOUNT"),
        (Portion(percent=Decimal("100.001")), "PERCENT_ABOVE_100"),
        (Portion(percent=Decimal("-1")), "NEGATIVE_AMOUNT"),
    ],
)
def test_a_discount_stays_between_nothing_and_everything(discount, code):
    for settings, lines in (
        (MoneySettings(discount=discount), [line("1", "100.00")]),
        (MoneySettings(), [line("1", "100.00", discount=discount)]),
        (MoneySettings(deposit=discount), [line("1", "100.00")]),
    ):
        with pytest.raises(MoneyError) as refused:
            totals(lines, settings)
        assert refused.value.code == code


def test_a_discount_is_a_percentage_or_an_amount():
    for both_or_none in ({}, {"percent": Decimal(1), "cents": 1}):
        with pytest.raises(MoneyError) as refused:
            Portion(**both_or_none)
        assert refused.value.code == "PERCENT_OR_AMOUNT"


def test_a_document_above_the_ceiling_is_refused():
    with pytest.raises(MoneyError) as refused:
        totals([line("100", "9999999999.99")] * 2, MoneySettings())
    assert (refused.value.code, refused.value.data["most"]) == ("AMOUNT_TOO_LARGE", MAX_CENTS)


def test_no_lines_come_to_nothing():
    result = totals([], MoneySettings(discount=percent("10"), deposit=percent("30")))
    assert (result.total, result.deposit, result.balance, result.tax_lines) == (0, 0, 0, ())


@pytest.mark.parametrize(("text", "cents"), [("150", 15000), ("150.5", 15050), ("150.00", 15000), ("0.07", 7)])
def test_the_machine_form_is_read_exactly(text, cents):
    assert parse_money(text) == cents


@pytest.mark.parametrize(
    "text",
    [
        "",
        " 150",
        "150 ",
        "-1",
        "+1",
        "1,5",
        "1.",
        ".5",
        "1.005",
        "1e3",
        "NaN",
        "Infinity",
        "1234567890",
        "１５",
        "1\n",
        "٣",
    ],
)
def test_anything_but_the_machine_form_is_refused(text):
    with pytest.raises(MoneyError) as refused:
        parse_money(text)
    assert refused.value.code == "AMOUNT_FORM"


def test_the_machine_form_is_text_not_a_number():
    with pytest.raises(TypeError):
        parse_money(150.0)  # type: ignore[arg-type]


@given(st.integers(0, 99_999_999_999))
def test_the_machine_form_returns_what_it_was_made_from(cents):
    assert parse_money(amount_text(cents)) == cents


def test_a_negative_amount_is_written_with_one_sign():
    assert [amount_text(cents) for cents in (-5, -15000, 0)] == ["-0.05", "-150.00", "0.00"]


@pytest.mark.parametrize(
    ("cents", "currency", "locale", "text"),
    [
        (150000, "USD", "en-US", "$1,500.00"),
        (150000, "BRL", "pt-BR", "R$ 1.500,00"),
        (1234560, "BRL", "en-US", "R$12,345.60"),
        (150000, "USD", "pt-BR", "US$ 1.500,00"),
        (-550, "USD", "en-US", "-$5.50"),
        (MAX_CENTS, "USD", "en-US", "$999,999,999,999.99"),
    ],
)
def test_an_amount_is_written_as_its_locale_writes_it(cents, currency, locale, text):
    assert plain(format_money(cents, currency, locale)) == text


def test_babel_keeps_the_sign_and_the_number_on_one_line():
    assert format_money(150000, "BRL", "pt-BR") == "R$\u00a01.500,00"


def test_a_currency_without_cents_is_refused():
    with pytest.raises(MoneyError) as refused:
        format_money(100, "JPY", "en-US")
    assert refused.value.code == "CURRENCY_UNSUPPORTED"


@given(st.integers(0, 10**9), st.lists(st.integers(0, 10**9), min_size=1, max_size=12))
def test_shares_add_up_and_none_is_a_whole_cent_off(cents, weights):
    shares = share_out(cents, weights)
    whole = sum(weights)
    assert sum(shares) == (cents if whole else 0)
    for share, weight in zip(shares, weights, strict=True):
        assert whole == 0 or abs(share * whole - cents * weight) < whole


NUMBERS = st.decimals(allow_nan=True, allow_infinity=True)
PRICED = st.builds(
    Line,
    quantity=st.decimals("0.001", "9999", places=3),
    unit_price=st.decimals(0, "99999", places=4),
    tax_rate=st.sampled_from([Decimal(0), Decimal("8.25"), Decimal(5), Decimal("19.975")]),
    discount=st.none() | st.builds(Portion, percent=st.decimals(0, 100, places=3)),
    optional=st.booleans(),
    selected=st.booleans(),
)
SETTINGS = st.builds(
    MoneySettings,
    tax_mode=st.sampled_from(TaxMode),
    tax_rounding=st.sampled_from(TaxRounding),
    rounding=st.sampled_from(Rounding),
    discount=st.none() | st.builds(Portion, percent=st.decimals(0, 100, places=3)),
    deposit=st.none() | st.builds(Portion, percent=st.decimals(0, 100, places=3)),
)


@given(st.lists(PRICED, max_size=8), SETTINGS)
def test_every_document_adds_up(lines, settings):
    result = totals(lines, settings)
    counted = [row for row in result.lines if row.counts]
    assert all(row.gross - row.discount == row.net >= 0 for row in result.lines)
    assert all(row.net - row.discount_share == row.taxable >= 0 for row in counted)
    assert sum(row.net for row in counted) == result.subtotal
    assert sum(row.discount_share for row in result.lines) == result.discount
    assert sum(t.base for t in result.tax_lines) == result.subtotal - result.discount
    assert result.deposit + result.balance == result.total
    added = result.tax if settings.tax_mode is TaxMode.EXCLUSIVE else 0
    assert result.total == result.subtotal - result.discount + added


@given(NUMBERS, NUMBERS)
def test_any_pair_of_numbers_is_an_amount_or_a_clear_refusal(quantity, unit_price):
    try:
        cents = line_amount(quantity, unit_price)
    except MoneyError as refused:
        assert refused.code
        assert refused.sentence
    else:
        assert 0 <= cents <= MAX_CENTS


def test_a_percentage_of_an_amount_is_rounded_once():
    assert percent_of(33335, Decimal(30)) == 10001
    assert percent_of(33335, Decimal(30), Rounding.HALF_EVEN) == 10000
