"""Ways to reach a person: e-mail addresses, phone numbers, and how either is masked."""

import re
from enum import StrEnum

import phonenumbers
from django.utils.translation import gettext as _
from email_validator import EmailNotValidError, validate_email
from phonenumbers import timezone as phone_timezones

from ledger.errors import DomainError
from ledger.text import clean_line, mixes_scripts, scripts

_OLD_BRAZILIAN_MOBILE = re.compile(r"([1-9][1-9])([6-9][0-9]{7})")


class ContactError(DomainError, ValueError):
    """An address or a number that cannot be written to."""


class AddressWarning(StrEnum):
    """What a person should look at twice in an e-mail address before something is sent there."""

    PUNYCODE = "EMAIL_DOMAIN_PUNYCODE"
    MIXED_SCRIPTS = "EMAIL_DOMAIN_MIXED_SCRIPTS"
    NOT_LATIN = "EMAIL_DOMAIN_NOT_LATIN"


class PhoneKind(StrEnum):
    """What a number is good for; `EITHER` where the plan does not tell (the United States)."""

    MOBILE = "mobile"
    LANDLINE = "landline"
    EITHER = "either"
    OTHER = "other"


def parse_email(text: str) -> str:
    """The address as it goes on the wire: the local part as written, the domain in lower case and in ASCII.

    Syntax alone is checked (RFC 5321 and 5322); no name is looked up. Raises ContactError.
    """
    try:
        found = validate_email(text.strip(), check_deliverability=False, allow_smtputf8=False, strict=True)
    except EmailNotValidError as wrong:
        sentence = _("That is not an e-mail address: %(text)s") % {"text": clean_line(text)[:80]}
        raise ContactError("EMAIL_INVALID", sentence, text=clean_line(text)[:80]) from wrong
    return f"{found.local_part}@{found.ascii_domain}"


def email_key(address: str) -> str:
    """The form in which two addresses are the same mailbox: "A@Example.com" is "a@example.com" (H32)."""
    return address.strip().casefold()


def email_warnings(address: str) -> tuple[AddressWarning, ...]:
    """What looks odd about the domain of an address from `parse_email`: look-alike letters, punycode."""
    labels = address.rpartition("@")[2].split(".")
    encoded = [label for label in labels if label.lower().startswith("xn--") or not label.isascii()]
    read = [_decoded(label) for label in encoded]
    found = {
        AddressWarning.PUNYCODE: bool(encoded),
        AddressWarning.MIXED_SCRIPTS: any(mixes_scripts(label) for label in read),
        AddressWarning.NOT_LATIN: any(scripts(label) - {"LATIN"} for label in read),
    }
    return tuple(warning for warning, applies in found.items() if applies)


def readable_domain(address: str) -> str:
    """The domain with its punycode read, to be shown beside the address itself."""
    return ".".join(_decoded(label) for label in address.rpartition("@")[2].split("."))


def parse_phone(text: str, country: str) -> str:
    """The number in E.164 (`+5511999990000`), read as dialled in `country` (US, BR) unless it has a prefix.

    A Brazilian mobile in its old form of eight digits gets its ninth; landlines never do (H28). Raises
    ContactError: PHONE_NO_AREA_CODE where only that is missing, else PHONE_INVALID.
    """
    try:
        number = phonenumbers.parse(text, country)
    except phonenumbers.NumberParseException as wrong:
        raise _bad_phone(text) from wrong
    number = _with_ninth_digit(number)
    if phonenumbers.is_valid_number(number) and not number.extension:
        return str(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))
    if _lacks_area_code(number):
        sentence = _("The number lacks its area code.")
        raise ContactError("PHONE_NO_AREA_CODE", sentence, text=clean_line(text)[:40])
    raise _bad_phone(text)


def phone_of_wa_id(wa_id: str) -> str:
    """The E.164 number of a WhatsApp id, to find the client by; for sending, the id itself is used (H28)."""
    if not re.fullmatch(r"[0-9]{6,15}", wa_id):
        raise _bad_phone(wa_id)
    return parse_phone(f"+{wa_id}", "US")


def phone_kind(number: str) -> PhoneKind:
    """What a number from `parse_phone` is: a text message to a landline is refused before it costs."""
    kinds = phonenumbers.PhoneNumberType
    match phonenumbers.number_type(phonenumbers.parse(number)):
        case kinds.MOBILE:
            return PhoneKind.MOBILE
        case kinds.FIXED_LINE:
            return PhoneKind.LANDLINE
        case kinds.FIXED_LINE_OR_MOBILE:
            return PhoneKind.EITHER
    return PhoneKind.OTHER


def phone_zones(number: str) -> tuple[str, ...]:
    """The IANA zones that a number may be in (quiet hours are the recipient's, I12); empty where unknown."""
    zones = phone_timezones.time_zones_for_number(phonenumbers.parse(number))
    return tuple(zone for zone in zones if zone != "Etc/Unknown")


def format_phone(number: str, country: str) -> str:
    """A number from `parse_phone` as people in `country` read it: national at home, international abroad."""
    parsed = phonenumbers.parse(number)
    home = phonenumbers.region_code_for_number(parsed) == country
    form = phonenumbers.PhoneNumberFormat
    return str(phonenumbers.format_number(parsed, form.NATIONAL if home else form.INTERNATIONAL))


def mask_email(address: str) -> str:
    """The address with its local part hidden but for the first letter: `j•••@example.com`."""
    local, _at, domain = address.rpartition("@")
    return f"{local[:1]}•••@{domain}"


def mask_phone(number: str) -> str:
    """The number with all but its last four digits hidden: `•••0142`."""
    return f"•••{number[-4:]}" if len(number) > 6 else "•••"


def _decoded(label: str) -> str:
    if not label.lower().startswith("xn--"):
        return label
    try:
        return label[4:].encode("ascii").decode("punycode")
    except UnicodeError:
        return label


def _with_ninth_digit(number: phonenumbers.PhoneNumber) -> phonenumbers.PhoneNumber:
    old = _OLD_BRAZILIAN_MOBILE.fullmatch(str(number.national_number))
    if number.country_code != 55 or old is None:
        return number
    return phonenumbers.PhoneNumber(country_code=55, national_number=int(f"{old[1]}9{old[2]}"))


def _lacks_area_code(number: phonenumbers.PhoneNumber) -> bool:
    if number.country_code == 55:  # eight digits, or nine where a mobile's ninth is there
        return len(str(number.national_number)) in (8, 9)
    reason = phonenumbers.is_possible_number_with_reason(number)
    return bool(reason == phonenumbers.ValidationResult.IS_POSSIBLE_LOCAL_ONLY)


def _bad_phone(text: str) -> ContactError:
    return ContactError("PHONE_INVALID", _("That is not a phone number."), text=clean_line(text)[:40])
