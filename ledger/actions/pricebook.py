"""The price book: add an item, give it a new price. Documents that exist keep the price they copied."""

import datetime
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from ledger import audit, dates, permissions
from ledger.actions import rows
from ledger.cents import UNIT_PRICE, rate, scaled
from ledger.errors import DomainError
from ledger.models import Company, Membership, PriceItem, PriceVersion
from ledger.numbering import take_number
from ledger.tenancy import current_tenant
from ledger.text import clean_line, search_key


@dataclass(frozen=True)
class Price:
    """What one unit costs the client and the company, and its tax in percent; in the company's currency."""

    unit_price: Decimal
    unit_cost: Decimal | None = None
    tax_rate: Decimal = Decimal(0)
    tax_code: str = ""

    def check(self) -> None:
        """Raises MoneyError for what the columns cannot hold."""
        scaled(self.unit_price, UNIT_PRICE, "unit_price")
        if self.unit_cost is not None:
            scaled(self.unit_cost, UNIT_PRICE, "unit_cost")
        rate(self.tax_rate, "tax_rate")


@transaction.atomic
def create_price_item(
    *,
    by: Membership,
    code: str,
    name: str,
    unit: str,
    price: Price,
    kind: str = PriceItem.Kind.SERVICE,
    category: str = "",
    valid_from: datetime.date | None = None,
    ref: str = "",
) -> PriceItem:
    """Add a service or material. A company that brings its numbers along gives `ref`.

    Raises CODE_TAKEN where an item not in the trash has the code.
    """
    permissions.require(by, "manage_price_book")
    price.check()
    code, name, unit, category = (clean_line(text) for text in (code, name, unit, category))
    _check_words(code, name, unit, category)
    if PriceItem.objects.filter(code=code, deleted_at=None).exists():
        raise DomainError(
            "CODE_TAKEN", _("The price book already has an item with the code %(code)s.") % {"code": code}
        )
    item = PriceItem.objects.create(
        **rows.made_by(by),
        ref=ref or take_number("price_item"),
        code=code,
        name=name,
        unit=unit,
        kind=PriceItem.Kind(kind),
        category=category,
        search=search_key(f"{code} {name} {category}"),
    )
    _add_version(item, price, valid_from, by)
    audit.record("price_item.created", by=by, subject=item, ref=item.ref, unit_price=price.unit_price)
    return item


@transaction.atomic
def change_price(
    item: PriceItem,
    *,
    by: Membership,
    price: Price,
    valid_from: datetime.date | None = None,
    expected_version: int | None = None,
) -> PriceItem:
    """Give an item a new price from a day on, today if none is named; lines that exist keep theirs."""
    permissions.require(by, "manage_price_book")
    price.check()
    item = rows.locked(item, expected_version=expected_version)
    version = _add_version(item, price, valid_from, by)
    rows.write(item, by=by)
    audit.record(
        "price_item.repriced",
        by=by,
        subject=item,
        ref=item.ref,
        unit_price=price.unit_price,
        valid_from=version.valid_from,
    )
    return item


@transaction.atomic
def archive_price_item(item: PriceItem, *, by: Membership, active: bool = False) -> PriceItem:
    """Stop offering an item, or offer it again; documents that have it keep it."""
    permissions.require(by, "manage_price_book")
    item = rows.locked(item)
    rows.write(item, by=by, active=active)
    audit.record("price_item.restored" if active else "price_item.archived", by=by, subject=item, ref=item.ref)
    return item


def _add_version(item: PriceItem, price: Price, valid_from: datetime.date | None, by: Membership) -> PriceVersion:
    last = item.versions.aggregate(last=Max("number"))["last"] or 0
    return PriceVersion.objects.create(
        item=item,
        number=last + 1,
        valid_from=valid_from or dates.today(Company.objects.get(pk=current_tenant()).timezone),
        unit_price=price.unit_price,
        unit_cost=price.unit_cost,
        tax_rate=price.tax_rate,
        tax_code=clean_line(price.tax_code)[:20],
        created_by=by,
    )


def _check_words(code: str, name: str, unit: str, category: str) -> None:
    named = (("code", _("code"), code, 30), ("name", _("name"), name, 160), ("unit", _("unit"), unit, 12))
    for field, word, text, most in named:
        if not text or len(text) > most:
            sentence = _("Give the item's %(field)s in 1 to %(most)s characters.") % {"field": word, "most": most}
            raise DomainError("BAD_TEXT", sentence, field=field)
    if len(category) > 60:
        raise DomainError("BAD_TEXT", _("The category is too long."), field="category")
