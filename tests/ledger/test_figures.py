"""Figures on pages, as the page's reader writes them."""

import pytest
from django.utils import translation

from ledger.templatetags import figures


@pytest.mark.parametrize(
    ("language", "number", "written"),
    [
        ("en", "+15125550142", "(512) 555-0142"),
        ("en", "+5519991230102", "+55 19 99123-0102"),
        ("pt-br", "+5519991230102", "(19) 99123-0102"),
        ("pt-br", "+15125550142", "+1 512-555-0142"),
        ("en", "extension 12", "extension 12"),
        ("en", "", ""),
    ],
)
def test_a_telephone_number_is_written_as_its_reader_does(language: str, number: str, written: str) -> None:
    with translation.override(language):
        assert figures.phone(number) == written


def test_an_amount_in_the_machines_form_is_shown_as_the_reader_writes_it() -> None:
    with translation.override("pt-br"):
        assert figures.stated("10157.64", "BRL") == "R$\u00a010.157,64"
    assert figures.stated("-5.00", "USD") == "-5.00 USD"
