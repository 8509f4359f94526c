"""Amounts as people write them: H09 (Brazil), H10 (United States), H11 (words)."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.amounts import Ambiguous, Amount, read_amount, read_price, read_quantity
from ledger.cents import MAX_CENTS, MoneyError
from ledger.money import format_money


@pytest.mark.parametrize(
    ("text", "cents"),
    [
        ("R$ 1.500", 150000),
        ("R$\u00a01.500,50", 150050),
        ("R$\u202f1.500,50", 150050),
        ("1500,5", 150050),
        ("1.500.000", 150000000),
        ("1,500.00", 150000),
        ("1.5", 150),
        ("10,00", 1000),
        ("0,500", 50),
        ("1500.00", 150000),
        ("38 mil", 3800000),
        ("1,5 mil", 150000),
        ("2 milhões", 200000000),
        ("-10,00", -1000),
        ("1.500 reais", 150000),
    ],
)
def test_h09_amounts_in_a_brazilian_account(text, cents):
    found = read_amount(text, "pt-BR")
    assert isinstance(found, Amount)
    assert found.cents == cents


def test_h09_one_comma_and_three_digits_is_asked_and_never_guessed():
    assert read_amount("1,500", "pt-BR") == Ambiguous("1,500", (150, 150000))
    assert read_price("R$ 1,500", "pt-BR") == Ambiguous("R$ 1,500", (150, 150000))
    assert read_amount("1.500", "en-US") == Ambiguous("1.500", (150, 150000))


def test_h09_a_reading_that_is_no_amount_still_leaves_the_question():
    assert read_amount("12,345", "pt-BR") == Ambiguous("12,345", (1234500,))


@pytest.mark.parametrize(
    ("text", "cents"),
    [
        ("$1,500.00", 150000),
        ("$ .75", 75),
        ("1,234,567.890", 123456789),
        ("$38K", 3800000),
        ("1.5k", 150000),
        ("$1,500", 150000),
        ("(50.00)", -5000),
        ("−50", -5000),
        ("1.500,00", 150000),
        ("1500 USD", 150000),
        ("2 million dollars", 200000000),
        ("5000", 500000),
    ],
)
def test_h10_amounts_in_a_united_states_account(text, cents):
    found = read_amount(text, "en-US")
    assert isinstance(found, Amount)
    assert found.cents == cents


def test_h10_a_count_in_front_of_a_price_is_its_quantity():
    assert read_price("3 sets from $275", "en-US") == Amount(27500, None, Decimal(3))
    assert read_price("3 x R$ 1.275,00 cada", "pt-BR") == Amount(127500, "BRL", Decimal(3))
    assert read_price("3 x R$ 1,275", "pt-BR") == Ambiguous("3 x R$ 1,275", (127500,))


def test_h10_a_negative_price_is_refused_and_not_turned_positive():
    for text in ("(50.00)", "-50", "(1.500)"):
        with pytest.raises(MoneyError) as refused:
            read_price(text, "en-US")
        assert refused.value.code == "NEGATIVE_AMOUNT"


def test_a_million_or_a_thousand_is_asked():
    assert read_amount("$1.5M", "en-US") == Ambiguous("$1.5M", (150000, 150000000))


@pytest.mark.parametrize(
    ("text", "cents"),
    [
        ("mil e quinhentos", 150000),
        ("dois mil e duzentos", 220000),
        ("catorze mil e cem", 1410000),
        ("quatorze mil e cem", 1410000),
        ("mil duzentos e trinta e quatro reais e cinquenta centavos", 123450),
        ("Mil duzentos e trinta e quatro reais e cinqüenta centavos", 123450),
        ("duzentos e cinquenta mil", 25000000),
        ("um milhão cem mil e trinta", 110003000),
        ("um milhao cem mil e trinta", 110003000),
        ("um milhão de reais", 100000000),
        ("cento e vinte", 12000),
        ("vinte centavos", 20),
        ("2 mil e 500", 250000),
        ("fifteen hundred dollars", 150000),
        ("two thousand two hundred and fifty dollars and ten cents", 225010),
        ("twenty-five", 2500),
    ],
)
def test_h11_amounts_in_words_are_one_number(text, cents):
    found = read_amount(text, "pt-BR")
    assert isinstance(found, Amount)
    assert found.cents == cents


@pytest.mark.parametrize(
    ("text", "quantity"),
    [("meia dúzia", 6), ("meia duzia", 6), ("duas dúzias", 24), ("half a dozen", 6), ("vinte e oito", 28)],
)
def test_h11_quantities_in_words(text, quantity):
    assert read_quantity(text, "pt-BR") == quantity


def test_quantities_in_figures_keep_three_decimals():
    assert read_quantity("12,345", "pt-BR") == Ambiguous("12,345", (Decimal("12.345"), Decimal(12345)))
    assert read_quantity("12.34", "pt-BR") == Decimal("12.34")
    assert read_quantity("28", "en-US") == Decimal(28)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("0,0001", "TOO_MANY_DECIMALS"),
        ("1000000000", "AMOUNT_TOO_LARGE"),
        ("um bilhão", "AMOUNT_TOO_LARGE"),
        ("dúzia", "AMOUNT_UNREADABLE"),
        ("-3", "AMOUNT_UNREADABLE"),
        ("", "AMOUNT_UNREADABLE"),
    ],
)
def test_a_quantity_that_does_not_fit_is_refused(text, code):
    with pytest.raises(MoneyError) as refused:
        read_quantity(text, "pt-BR")
    assert refused.value.code == code


@pytest.mark.parametrize(
    "text",
    [
        "",
        "R$",
        "abc",
        "1.50.000",
        "1,23,456.00",
        "1.234,567.89",
        "$100 or $200",
        "$100-200",
        "1 500",
        "((50))",
        "(-50)",
        "1e5",
        "NaN",
        "Infinity",
        "١٥٠٠",
        "１５００",
        "½",
        "5.",
        "$",
        "dois e cinquenta",
        "mil mil",
        "trinta e mil",
        "two thousand fifteen hundred",
        "20-5",
        "20 5",
        "cem 20",
        "cinco reais e cem centavos",
        "R$ 5 reais",
        "9" * 121,
    ],
)
def test_what_is_no_amount_is_refused(text):
    with pytest.raises(MoneyError) as refused:
        read_amount(text, "pt-BR")
    assert refused.value.code == "AMOUNT_UNREADABLE"


def test_a_part_of_a_cent_and_too_much_money_are_refused():
    for text, code in (("1500,005", "TOO_MANY_DECIMALS"), ("9" * 20, "AMOUNT_TOO_LARGE")):
        with pytest.raises(MoneyError) as refused:
            read_amount(text, "pt-BR")
        assert refused.value.code == code


def test_another_currency_than_the_companys_is_refused():
    assert read_amount("US$ 100", "en-US", "USD") == Amount(10000, "USD")
    assert read_amount("$ 100", "en-US", "USD") == Amount(10000)
    for text in ("R$ 100", "100 reais", "cem reais", "€ 100"):
        with pytest.raises(MoneyError) as refused:
            read_amount(text, "en-US", "USD")
        assert refused.value.code == "CURRENCY_MISMATCH"


@given(st.integers(0, MAX_CENTS), st.sampled_from([("USD", "en-US"), ("BRL", "pt-BR")]))
def test_what_is_shown_can_be_typed_back(cents, account):
    currency, locale = account
    found = read_amount(format_money(cents, currency, locale), locale, currency)
    assert isinstance(found, Amount)
    assert found.cents == cents


@given(st.text("0123456789.,-($)Rke mil", max_size=24))
def test_any_text_is_read_asked_about_or_refused(text):
    try:
        found = read_amount(text, "pt-BR")
    except MoneyError:
        return
    candidates = found.candidates if isinstance(found, Ambiguous) else (found.cents,)
    assert all(abs(cents) <= MAX_CENTS for cents in candidates)
