"""Figures in words that the model wrote are held against the record; what it lacks is named, nothing is corrected."""

from datetime import date
from decimal import Decimal

import pytest

from assistant.tools.figures import MOST, Known, strange_figures

KNOWN = Known(
    cents=frozenset({1_015_764, 304_729, 150_000}),
    days=frozenset({date(2026, 12, 31), date(2027, 1, 14)}),
    percents=frozenset({Decimal("8.25"), Decimal(30)}),
)


@pytest.mark.parametrize(
    ("text", "strange"),
    [
        ("The total is $10,157.64.", ()),
        ("The total is $10,157.65.", ("$10,157.65",)),
        ("10,157.64 dollars in all", ()),
        ("$1500 or $1,500.00 or 1,500.00", ()),
        ("only 9,999.00", ("9,999.00",)),
        ("a deposit of 30% and 8.25 % tax", ()),
        ("12% off and 8.26 percent tax", ("12%", "8.26 percent")),
        ("until January 14, 2027", ()),
        ("until Jan 14", ()),
        ("until January 15, 2027 or 14 January 2026", ("January 15, 2027", "14 January 2026")),
        ("by 12/31/2026 or 31/12/2026 or 2026-12-31 or 12/31", ()),
        ("by 12/30/2026", ("12/30/2026",)),
        ("28 squares, 2 crews, on the 3rd try, call 512 555 0142", ()),
        ("no figures here", ()),
        ("", ()),
    ],
)
def test_in_english(text: str, strange: tuple[str, ...]) -> None:
    assert strange_figures(text, KNOWN, "en-US") == strange


@pytest.mark.parametrize(
    ("text", "strange"),
    [
        ("O total é R$ 10.157,64.", ()),
        ("O total é R$\u00a010.157,64.", ()),
        ("O total é R$ 10.157,65.", ("R$ 10.157,65",)),
        ("são 1.500,00 reais", ()),
        ("válido até 31 de dezembro de 2026", ()),
        ("válido até 1º de dezembro de 2026", ("1º de dezembro de 2026",)),
        ("entrada de 30% e 8,25% de imposto", ()),
        ("desconto de 7,5%", ("7,5%",)),
    ],
)
def test_in_portuguese(text: str, strange: tuple[str, ...]) -> None:
    assert strange_figures(text, KNOWN, "pt-BR") == strange


def test_only_the_first_are_named_and_long_text_is_no_burden() -> None:
    text = " ".join(f"${n}.99" for n in range(1, 2000))
    assert len(strange_figures(text, KNOWN, "en-US")) == MOST


@pytest.mark.parametrize("text", ["$" + "9" * 5000, "9," * 5000, "1/1/" * 3000, "%" * 9000, "0-0-0 " * 2000, "٣٪ $٣"])
def test_hostile_text_is_read_without_error(text: str) -> None:
    strange_figures(text, KNOWN, "en-US")
