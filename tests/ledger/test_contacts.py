"""E-mail addresses and phones: H28 (Brazilian numbers), H32 (the same mailbox), look-alike domains."""

import pytest

from ledger.contacts import (
    AddressWarning,
    ContactError,
    PhoneKind,
    email_key,
    email_warnings,
    format_phone,
    mask_email,
    mask_phone,
    parse_email,
    parse_phone,
    phone_kind,
    phone_of_wa_id,
    phone_zones,
    readable_domain,
)


def refusal(call, *args) -> ContactError:
    with pytest.raises(ContactError) as refused:
        call(*args)
    assert refused.value.sentence
    return refused.value


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("(11) 99999-0000", "+5511999990000"),
        ("11 99999 0000", "+5511999990000"),
        ("+55 47 9999-0000", "+5547999990000"),
        ("(45) 3555-0100", "+554535550100"),
        ("+1 512 555 0142", "+15125550142"),
    ],
)
def test_h28_brazilian_numbers_are_kept_in_one_form(text, number):
    assert parse_phone(text, "BR") == number


def test_h28_a_wa_id_finds_its_client():
    assert phone_of_wa_id("554799990000") == "+5547999990000"
    assert phone_of_wa_id("554535550100") == "+554535550100"
    assert refusal(phone_of_wa_id, "abc").code == "PHONE_INVALID"


@pytest.mark.parametrize(("text", "country"), [("99999-0000", "BR"), ("3555-0100", "BR"), ("555-0142", "US")])
def test_h28_a_number_without_its_area_code_is_asked_about(text, country):
    assert refusal(parse_phone, text, country).code == "PHONE_NO_AREA_CODE"


@pytest.mark.parametrize(
    "text", ["", "abc", "12", "+999 1234567", "9" * 300, "512 555 0142 ext. 7", "+55 11 1999-0000"]
)
def test_what_is_no_phone_number_is_refused(text):
    assert refusal(parse_phone, text, "US").code == "PHONE_INVALID"


def test_a_number_tells_its_kind_and_its_zone():
    assert phone_kind("+5511999990000") is PhoneKind.MOBILE
    assert phone_kind("+554535550100") is PhoneKind.LANDLINE
    assert phone_kind("+15125550142") is PhoneKind.EITHER
    assert phone_kind("+18005550199") is PhoneKind.OTHER
    assert phone_zones("+15125550142") == ("America/Chicago",)


def test_a_number_is_shown_nationally_at_home():
    assert format_phone("+15125550142", "US") == "(512) 555-0142"
    assert format_phone("+5511999990000", "BR") == "(11) 99999-0000"
    assert format_phone("+5511999990000", "US") == "+55 11 99999-0000"


def test_numbers_and_addresses_are_masked():
    assert mask_phone("+15125550142") == "•••0142"
    assert mask_phone("12345") == "•••"
    assert mask_email("john.smith@example.com") == "j•••@example.com"


def test_an_address_is_kept_as_it_goes_on_the_wire():
    assert parse_email(" John.Smith@Example.COM ") == "John.Smith@example.com"
    assert parse_email("ana@conceição.example") == "ana@xn--conceio-2wa9a.example"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a@b",
        "@example.com",
        "a@@example.com",
        "a b@example.com",
        "Ana <ana@example.com>",
        "a@example.com, b@example.com",
        "a@example.com\nBcc: b@example.com",
        "a\x00@example.com",
        "a\u202e@example.com",
        "a\u200b@example.com",
        "çã@example.com",
        "a@localhost",
        "a" * 65 + "@example.com",
    ],
)
def test_what_is_no_single_address_is_refused(text):
    assert refusal(parse_email, text).code == "EMAIL_INVALID"


def test_h32_case_does_not_make_another_mailbox():
    assert email_key("A@Example.com") == email_key(" a@example.com")


def test_a_look_alike_domain_is_warned_about():
    cyrillic = parse_email("billing@pаypal.example")  # the first а is Cyrillic
    assert email_warnings(cyrillic) == (
        AddressWarning.PUNYCODE,
        AddressWarning.MIXED_SCRIPTS,
        AddressWarning.NOT_LATIN,
    )
    assert readable_domain(cyrillic) == "pаypal.example"


def test_another_script_and_an_accent_are_warned_about_for_what_they_are():
    assert email_warnings(parse_email("a@пример.example")) == (AddressWarning.PUNYCODE, AddressWarning.NOT_LATIN)
    assert email_warnings(parse_email("a@conceição.example")) == (AddressWarning.PUNYCODE,)
    assert email_warnings(parse_email("a@example.com")) == ()
