"""Tax numbers: H31 (the CNPJ with letters), CPF, EIN."""

import pytest

from ledger.tax_ids import TaxIdError, TaxIdKind, format_tax_id, mask_tax_id, parse_tax_id, tax_id_kind

CNPJ, CPF, EIN = TaxIdKind.CNPJ, TaxIdKind.CPF, TaxIdKind.EIN


@pytest.mark.parametrize(
    ("text", "compact"),
    [
        ("12.ABC.345/01DE-35", "12ABC34501DE35"),
        ("A1.B2C.3D4/0001-93", "A1B2C3D4000193"),
        ("a1b2c3d4000193", "A1B2C3D4000193"),
        ("K3.L5P.8R2/0002-05", "K3L5P8R2000205"),
        ("11.222.333/0001-81", "11222333000181"),
    ],
)
def test_h31_a_cnpj_with_letters_is_valid(text, compact):
    assert parse_tax_id(text, CNPJ) == compact


@pytest.mark.parametrize("text", ["A1.B2C.3D4/0001-39", "A1B2C3D40001A3", "00.000.000/0000-00", "", "x" * 999])
def test_h31_a_wrong_cnpj_is_refused(text):
    with pytest.raises(TaxIdError) as refused:
        parse_tax_id(text, CNPJ)
    assert (refused.value.code, refused.value.data["kind"]) == ("TAX_ID_INVALID", "CNPJ")


def test_people_and_employers_have_numbers_too():
    assert parse_tax_id("529.982.247-25", CPF) == "52998224725"
    assert parse_tax_id("74-1234567", EIN) == "741234567"


@pytest.mark.parametrize(
    ("text", "kind"),
    [("529.982.247-26", CPF), ("111.111.111-11", CPF), ("00-1234567", EIN)],
)
def test_a_number_that_nobody_has_is_refused(text, kind):
    with pytest.raises(TaxIdError):
        parse_tax_id(text, kind)


def test_the_kind_follows_country_and_length():
    assert tax_id_kind("12.ABC.345/01DE-35", "BR") is CNPJ
    assert tax_id_kind("529.982.247-25", "BR") is CPF
    assert tax_id_kind("74-1234567", "US") is EIN
    assert tax_id_kind("74-1234567", "BR") is None


def test_a_number_is_printed_or_masked():
    assert format_tax_id("12ABC34501DE35", CNPJ) == "12.ABC.345/01DE-35"
    assert format_tax_id("741234567", EIN) == "74-1234567"
    assert mask_tax_id("52998224725", CPF) == "•••.•••.•••-25"
    assert mask_tax_id("12ABC34501DE35", CNPJ) == "••.•••.•••/••••-35"
