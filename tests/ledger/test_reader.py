"""The reader's way of writing figures: one for every page, card and sentence."""

import ast
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from django.utils import translation

from ledger import reader
from ledger.locales import plain

HERE = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("language", "locale", "amount", "day", "number"),
    [
        ("en", "en-US", "R$1,500.05", "December 1, 2026", "1,234.5"),
        ("pt-br", "pt-BR", "R$ 1.500,05", "1 de dezembro de 2026", "1.234,5"),
    ],
)
def test_figures_follow_the_language_in_force(language: str, locale: str, amount: str, day: str, number: str) -> None:
    with translation.override(language):
        assert reader.locale() == locale
        assert plain(reader.amount(150_005, "BRL")) == amount
        assert reader.day(date(2026, 12, 1)) == day
        assert reader.number(Decimal("1234.500")) == number


def test_no_language_in_force_reads_as_english() -> None:
    with translation.override(None):
        assert (reader.locale(), reader.amount(500, "USD")) == ("en-US", "$5.00")


def test_the_readers_locale_is_found_in_one_place_only() -> None:
    """A second copy would drift: nobody else turns the language in force into a locale.

    A new company's locale comes from its country, which is another question.
    """
    chosen = [
        str(path.relative_to(HERE))
        for path in [*(HERE / "ledger").rglob("*.py"), *(HERE / "assistant").rglob("*.py")]
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.IfExp | ast.Dict)
        and "country" not in ast.unparse(node)
        and {"pt-BR", "en-US"} <= {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
    ]
    assert chosen == ["ledger/reader.py"]
