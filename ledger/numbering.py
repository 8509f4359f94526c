"""Public numbers: C-0101, Q-1042, INV-0229: unique in their company, gapless but for rollbacks.

A number is taken under the row lock of its series, inside the transaction that uses it: a rollback gives it
back and a second taker waits (H15). Whoever takes several in one transaction takes them in the alphabetical
order of their kinds, so that two transactions never wait for each other.
"""

import re
from typing import NamedTuple

from django.db import connection

from ledger import dates
from ledger.company_settings import current_settings
from ledger.models import Company
from ledger.models.company import Sequence
from ledger.refs import is_ref
from ledger.tenancy import current_tenant, new_id

FIXED = {
    "client": "C-{seq:04d}",
    "draft_invoice": "D-{seq:04d}",
    "lead": "L-{seq:04d}",
    "member": "U-{seq:02d}",
    "message": "M-{seq:04d}",
    "note": "N-{seq:04d}",
    "price_item": "PI-{seq:02d}",
    "refund": "R-{seq:04d}",
    "site": "S-{seq:04d}",
}
CHOSEN = {
    "credit_note": "credit_note_format",
    "invoice": "invoice_format",
    "payment": "payment_format",
    "quote": "quote_format",
}


class Number(NamedTuple):
    """A number that was taken: as it is written, and the two parts that order it (H17)."""

    text: str
    series: str
    serial: int


CHOSEN_FORM = re.compile(r"\{YYYY\}|\{seq(?::0[2-8]d)?\}")

_TAKE = """
    INSERT INTO ledger_sequence AS held (id, tenant_id, kind, series, next) VALUES (%s, %s, %s, %s, 2)
    ON CONFLICT (tenant_id, kind, series) DO UPDATE SET next = held.next + 1
    RETURNING next - 1
"""
_CONTINUE = """
    INSERT INTO ledger_sequence AS held (id, tenant_id, kind, series, next) VALUES (%s, %s, %s, %s, %s)
    ON CONFLICT (tenant_id, kind, series) DO UPDATE SET next = GREATEST(held.next, EXCLUDED.next)
    RETURNING next
"""


def take_number(kind: str, series: str = "") -> str:
    """The next number of a kind in the company's format. Raises KeyError for a kind without one.

    A format that names the year starts anew each year of the company's calendar (domain 1.6).
    """
    return take(kind, series).text


def take(kind: str, series: str = "") -> Number:
    """As `take_number`, with the series and the serial that it was made of."""
    text, series = _format_of(kind, series)
    serial = _run(_TAKE, kind, series)
    return Number(text.format(seq=serial), series, serial)


def read_number(kind: str, text: str) -> Number:
    """A number from books kept elsewhere as a Number: of the company's own series where it has its form, else of one
    named by what stands before its last digits. Raises ValueError for a text that could be no ref (see `refs`).
    """
    if not is_ref(text):
        raise ValueError(text)
    form = CHOSEN_FORM.sub(lambda part: r"([0-9]{4})" if part[0] == "{YYYY}" else r"([0-9]+)", _raw_format(kind))
    own = re.fullmatch(form, text)
    if own is not None:
        *year, serial = own.groups()
        return Number(text, "".join(year), int(serial))
    prefix, _dash, serial = text.partition("-")
    return Number(text, f"{prefix}-", int(serial))


def unknown_number(kind: str) -> str:
    """How a number of this kind will look while nobody knows it: INV-····."""
    text, _series = _format_of(kind, "")
    return CHOSEN_FORM.sub("····", text)


def next_number(kind: str, series: str = "") -> str:
    """The number that would be taken now. Only a hint: somebody else may take it first."""
    text, series = _format_of(kind, series)
    held = Sequence.objects.filter(kind=kind, series=series).values_list("next", flat=True).first()
    return text.format(seq=held or 1)


def continue_from(kind: str, seq: int, series: str = "") -> None:
    """Let a series go on at `seq`, for a company that brings its numbers along. A series never goes back."""
    _run(_CONTINUE, kind, series, seq)


def _raw_format(kind: str) -> str:
    text: str = FIXED[kind] if kind in FIXED else getattr(current_settings().values, CHOSEN[kind])
    return text


def _format_of(kind: str, series: str) -> tuple[str, str]:
    text = _raw_format(kind)
    if "{YYYY}" in text:
        year = str(dates.today(Company.objects.get(pk=current_tenant()).timezone).year)
        return text.replace("{YYYY}", year), f"{series}{year}"
    return text, series


def _run(statement: str, *values: str | int) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, [new_id(), current_tenant(), *values])
        (seq,) = cursor.fetchone()
    return int(seq)
