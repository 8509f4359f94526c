"""A company's settings as code reads them: one pydantic model over the JSON of a SettingsVersion.

A document keeps the version it was computed with, so a later change of tax or rounding never touches it.
"""

import json
import re
import uuid
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any, Literal, NamedTuple

from django.db.models import QuerySet
from pydantic import AfterValidator, BaseModel, ConfigDict, EmailStr, Field

from ledger.cents import Rounding
from ledger.compiled import Compiled
from ledger.models.company import SettingsVersion
from ledger.models.people import Membership, Role
from ledger.money import TaxMode, TaxRounding

_FORMAT = re.compile(r"[A-Z]{1,4}-(\{YYYY\})?\{seq(:0[2-8]d)?\}")
EVERYTHING = Decimal(100)


def _number_format(text: str) -> str:
    if not _FORMAT.fullmatch(text):
        raise ValueError("a number looks like INV-{seq:04d} or INV-{YYYY}{seq:04d}")
    return text


NumberFormat = Annotated[str, Field(max_length=24), AfterValidator(_number_format)]
Percent = Annotated[Decimal, Field(ge=0, le=100, max_digits=6, decimal_places=3)]
Seconds = Annotated[int, Field(ge=0, le=7 * 86400)]


class CompanySettings(BaseModel):
    """Every setting with its default. Money in cents, times in seconds, percentages from 0 to 100.

    `discount_limits` is by role (a role that is not named may give none, owners and admins any);
    `undo_seconds` and `expiry_seconds` are by tool, over the tool's own. `l3_threshold_cents` is where money
    out takes a second person, `l3_always` asks for one every time; `l3_passkey` wants strong approvals signed by a
    passkey (T69). `overpayment` says what becomes of money above what is owed: refused, or the client's credit where a
    person allows it (H19). Nothing is dated on or before `books_closed_on` (I20). `weekly_letter` sends the
    owners the week's figures by mail.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    tax_mode: TaxMode = TaxMode.EXCLUSIVE
    tax_rate: Percent = Decimal(0)
    tax_rounding: TaxRounding = TaxRounding.PER_RATE
    rounding: Rounding = Rounding.HALF_UP
    terms_days: int = Field(default=15, ge=0, le=365)
    quote_valid_days: int = Field(default=30, ge=1, le=180)
    quote_format: NumberFormat = "Q-{seq:04d}"
    invoice_format: NumberFormat = "INV-{seq:04d}"
    payment_format: NumberFormat = "PAY-{seq:04d}"
    credit_note_format: NumberFormat = "CN-{seq:04d}"
    discount_limits: dict[Role, Percent] = {Role.SALES: Decimal(10), Role.OFFICE: Decimal(5)}
    overpayment: Literal["refuse", "credit"] = "credit"
    books_closed_on: date | None = None
    email_copy_to: EmailStr | Literal[""] = ""
    undo_seconds: dict[str, Seconds] = {}
    expiry_seconds: dict[str, Annotated[int, Field(ge=60, le=7 * 86400)]] = {}
    l3_threshold_cents: int = Field(default=50_000, ge=0)
    l3_always: bool = False
    l3_passkey: bool = False
    resume_turns: bool = True
    weekly_letter: bool = True
    daily_token_budget: int = Field(default=2_000_000, ge=0)

    def discount_limit(self, member: Membership) -> Decimal:
        """The highest discount in percent that this member may give alone (I14)."""
        if member.role in (Role.OWNER, Role.ADMIN):
            return EVERYTHING
        return max(self.discount_limits.get(Role(member.role), Decimal(0)), member.discount_limit)

    def as_json(self) -> dict[str, Any]:
        """What a SettingsVersion stores: strings, integers and booleans, never a float."""
        return self.model_dump(mode="json")


class Current(NamedTuple):
    """The newest version and what it says."""

    version: SettingsVersion
    values: CompanySettings


def newest() -> QuerySet[SettingsVersion]:
    """The version in force of the company in scope, as a query."""
    return SettingsVersion.objects.order_by("-number")[:1]


NEWEST = Compiled(newest)


def current_settings() -> Current:
    """The settings of the company in scope. Raises SettingsVersion.DoesNotExist where there are none."""
    version = NEWEST.one()
    return Current(version, settings_of(version))


def settings_of(version: SettingsVersion) -> CompanySettings:
    """What a version says."""
    return _read(version.pk, json.dumps(version.values))


@lru_cache(maxsize=512)
def _read(version_id: uuid.UUID, values: str) -> CompanySettings:
    """A version is never changed, and reading one takes a millisecond."""
    return CompanySettings.model_validate(json.loads(values))
