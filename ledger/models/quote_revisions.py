"""What a quote says: its revisions and their lines. The database holds the freeze."""

import uuid
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from typing import ClassVar

import pgtrigger
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from ledger import money
from ledger.cents import Rounding
from ledger.models.frozen import Frozen
from ledger.models.quotes import Quote
from ledger.money import MoneySettings, Portion, TaxMode, TaxRounding
from ledger.tenancy import TenantForeignKey, TenantManager, TenantModel

# What a revision says; frozen with it. All its other columns tell what became of it.
FATE = (
    "status",
    "frozen_at",
    "sent_at",
    "viewed_at",
    "views",
    "declined_at",
    "decline_reason",
    "request",
    "requested_at",
)


class QuoteRevisionManager(TenantManager["QuoteRevision"]):
    """Answers for several quotes at once."""

    def newest_of(self, quotes: Iterable[Quote]) -> "dict[uuid.UUID, QuoteRevision]":
        """Each quote's newest revision by the quote's id, in one query."""
        numbers = {quote.pk: quote.revision for quote in quotes}
        rows = self.filter(quote__in=list(numbers))
        return {row.quote_id: row for row in rows if row.n == numbers[row.quote_id]}


class QuoteRevision(TenantModel):
    """What a quote says, once: terms, discount, and totals in cents as `ledger.money` computed them (I3).

    Frozen from `frozen_at` on (a send is under way); a send that failed for certain takes the mark away, and
    once `sent_at` is set nothing here ever changes but what became of it (I4).
    """

    class Status(models.TextChoices):
        DRAFT = "draft", _("Draft")
        SENT = "sent", pgettext_lazy("revision", "Sent")
        SUPERSEDED = "superseded", pgettext_lazy("revision", "Replaced")
        DROPPED = "dropped", _("Dropped")

    quote = TenantForeignKey(Quote, related_name="revisions")
    n = models.PositiveSmallIntegerField(default=1)
    status = models.CharField(max_length=12, choices=Status, default=Status.DRAFT)
    settings = TenantForeignKey("ledger.SettingsVersion", null=True, related_name="+")
    tax_mode = models.CharField(max_length=10)
    tax_rounding = models.CharField(max_length=10)
    rounding = models.CharField(max_length=10)
    discount_percent = models.DecimalField(max_digits=6, decimal_places=3, null=True)
    discount_cents = models.BigIntegerField(null=True)
    deposit_percent = models.DecimalField(max_digits=6, decimal_places=3, null=True)
    deposit_cents = models.BigIntegerField(null=True)
    terms = models.TextField(blank=True, default="")
    subtotal_total_cents = models.BigIntegerField(default=0)
    discount_total_cents = models.BigIntegerField(default=0)
    tax_total_cents = models.BigIntegerField(default=0)
    total_cents = models.BigIntegerField(default=0)
    deposit_total_cents = models.BigIntegerField(default=0)
    tax_lines = models.JSONField(default=list)
    valid_until = models.DateField(null=True)
    snapshot = models.JSONField(null=True)
    document = TenantForeignKey("ledger.StoredDocument", null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    frozen_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    viewed_at = models.DateTimeField(null=True)
    views = models.PositiveIntegerField(default=0)
    declined_at = models.DateTimeField(null=True)
    decline_reason = models.CharField(max_length=1000, blank=True, default="")
    requested_at = models.DateTimeField(null=True)
    request = models.CharField(max_length=1000, blank=True, default="")

    objects: ClassVar[QuoteRevisionManager] = QuoteRevisionManager()

    class Meta:
        verbose_name, verbose_name_plural = _("quote revision"), _("quote revisions")
        constraints = (
            models.UniqueConstraint(fields=["quote", "n"], name="quoterevision_n"),
            models.UniqueConstraint(fields=["quote"], condition=Q(status="draft"), name="quoterevision_one_draft"),
            models.UniqueConstraint(fields=["quote"], condition=Q(status="sent"), name="quoterevision_one_sent"),
            models.CheckConstraint(
                condition=Q(status__in=["draft", "sent", "superseded", "dropped"]),
                name="quoterevision_status",
            ),
            models.CheckConstraint(
                condition=Q(discount_percent=None) | Q(discount_cents=None), name="quoterevision_one_discount"
            ),
            models.CheckConstraint(
                condition=Q(deposit_percent=None) | Q(deposit_cents=None), name="quoterevision_one_deposit"
            ),
            models.CheckConstraint(
                condition=(Q(discount_percent=None) | Q(discount_percent__gte=0, discount_percent__lte=100))
                & (Q(deposit_percent=None) | Q(deposit_percent__gte=0, deposit_percent__lte=100))
                & (Q(discount_cents=None) | Q(discount_cents__gte=0))
                & (Q(deposit_cents=None) | Q(deposit_cents__gte=0)),
                name="quoterevision_portions",
            ),
            models.CheckConstraint(
                condition=Q(
                    subtotal_total_cents__gte=0,
                    tax_total_cents__gte=0,
                    deposit_total_cents__gte=0,
                    discount_total_cents__gte=0,
                    discount_total_cents__lte=F("subtotal_total_cents"),
                    deposit_total_cents__lte=F("total_cents"),
                ),
                name="quoterevision_totals",
            ),
            models.CheckConstraint(
                condition=Q(
                    tax_mode="exclusive",
                    total_cents=F("subtotal_total_cents") - F("discount_total_cents") + F("tax_total_cents"),
                )
                | Q(tax_mode="inclusive", total_cents=F("subtotal_total_cents") - F("discount_total_cents")),
                name="quoterevision_total",
            ),
            models.CheckConstraint(
                condition=Q(sent_at=None, status__in=["draft", "dropped"])
                | Q(
                    sent_at__isnull=False,
                    frozen_at__isnull=False,
                    document__isnull=False,
                    snapshot__isnull=False,
                    valid_until__isnull=False,
                    status__in=["sent", "superseded"],
                ),
                name="quoterevision_sent",
            ),
        )
        triggers = (
            pgtrigger.Protect(
                name="frozen",
                operation=pgtrigger.Update,
                condition=Frozen("OLD.frozen_at IS NOT NULL", but=FATE),
            ),
            pgtrigger.Protect(
                name="sent_for_good",
                operation=pgtrigger.Update,
                condition=Frozen("OLD.sent_at IS NOT NULL", only=("sent_at", "frozen_at")),
            ),
            pgtrigger.FSM(
                name="state_table",
                field="status",
                transitions=[("draft", "sent"), ("draft", "dropped"), ("sent", "superseded")],
            ),
            pgtrigger.Protect(name="no_delete", operation=pgtrigger.Delete),
        )

    def __str__(self) -> str:
        return _("revision %(n)s") % {"n": self.n}

    @property
    def is_frozen(self) -> bool:
        return self.frozen_at is not None

    @property
    def discount(self) -> Portion | None:
        return _portion(self.discount_percent, self.discount_cents)

    @property
    def deposit(self) -> Portion | None:
        return _portion(self.deposit_percent, self.deposit_cents)

    @property
    def money_settings(self) -> MoneySettings:
        """How its totals are computed: as the company's settings were when it was made."""
        return MoneySettings(
            tax_mode=TaxMode(self.tax_mode),
            tax_rounding=TaxRounding(self.tax_rounding),
            rounding=Rounding(self.rounding),
            discount=self.discount,
            deposit=self.deposit,
        )

    def totals(self, lines: "Sequence[QuoteLine]", selected: Collection[uuid.UUID] | None = None) -> money.Totals:
        """Its totals in cents, from its lines; with `selected`, as if exactly those options were taken."""
        return money.totals([line.as_money(selected) for line in lines], self.money_settings)

    def discount_given(self, lines: "Sequence[QuoteLine]") -> Decimal:
        """How much is let off in percent, rounded up to hundredths, against the price book (I14).

        Line discounts, the document's discount and prices below the book's count together, and so does what an
        option would let off if the client took it: the higher of the two is the answer. The half cent that the
        rounding of a percentage may add is not counted, so exactly the allowed percentage is never over the limit.
        """
        every = {line.pk for line in lines if line.optional}
        rounded = int(self.discount_percent is not None)
        rounding = Rounding(self.rounding)
        return max(_let_off(lines, self.totals(lines, chosen), rounding, rounded) for chosen in (None, every))


LINE_FROZEN = """
    IF EXISTS (
        SELECT FROM ledger_quoterevision r
         WHERE r.id IN (OLD.revision_id, NEW.revision_id) AND r.frozen_at IS NOT NULL FOR SHARE)
    THEN RAISE EXCEPTION 'the lines of a frozen revision never change'; END IF;
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    RETURN NEW;
"""


class QuoteLine(TenantModel):
    """One line of a revision. It copies price and tax; `price` says which price of the book it came from.

    Cents as `ledger.money` computed them: gross - discount = net, net - share = taxable. A line that does not
    count (optional, not selected) has neither share nor taxable.
    """

    revision = TenantForeignKey(QuoteRevision, related_name="lines")
    position = models.PositiveSmallIntegerField()
    item = TenantForeignKey("ledger.PriceItem", null=True, related_name="+")
    price = TenantForeignKey("ledger.PriceVersion", null=True, related_name="+")
    description = models.CharField(max_length=300)
    unit = models.CharField(max_length=12, blank=True, default="")
    quantity = models.DecimalField(max_digits=12, decimal_places=3)
    unit_price = models.DecimalField(max_digits=14, decimal_places=4)
    unit_cost = models.DecimalField(max_digits=14, decimal_places=4, null=True)
    discount_percent = models.DecimalField(max_digits=6, decimal_places=3, null=True)
    discount_cents = models.BigIntegerField(null=True)
    tax_rate = models.DecimalField(max_digits=6, decimal_places=3, default=0)
    tax_code = models.CharField(max_length=20, blank=True, default="")
    group = models.CharField(max_length=60, blank=True, default="")
    optional = models.BooleanField(default=False)
    selected = models.BooleanField(default=False)
    gross_total_cents = models.BigIntegerField()
    discount_total_cents = models.BigIntegerField()
    net_total_cents = models.BigIntegerField()
    share_cents = models.BigIntegerField()
    taxable_cents = models.BigIntegerField()

    class Meta:
        verbose_name, verbose_name_plural = _("quote line"), _("quote lines")
        ordering = ("position",)
        constraints = (
            models.UniqueConstraint(
                fields=["revision", "position"],
                name="quoteline_position",
                deferrable=models.Deferrable.DEFERRED,
            ),
            models.CheckConstraint(condition=Q(quantity__gt=0), name="quoteline_quantity"),
            models.CheckConstraint(condition=Q(unit_price__gte=0), name="quoteline_price"),
            models.CheckConstraint(condition=Q(tax_rate__gte=0, tax_rate__lte=100), name="quoteline_tax"),
            models.CheckConstraint(
                condition=Q(discount_percent=None) | Q(discount_cents=None), name="quoteline_one_discount"
            ),
            models.CheckConstraint(
                condition=Q(discount_percent=None) | Q(discount_percent__gte=0, discount_percent__lte=100),
                name="quoteline_percent",
            ),
            models.CheckConstraint(
                condition=Q(
                    gross_total_cents__gte=0,
                    discount_total_cents__gte=0,
                    discount_total_cents__lte=F("gross_total_cents"),
                    net_total_cents=F("gross_total_cents") - F("discount_total_cents"),
                ),
                name="quoteline_net",
            ),
            models.CheckConstraint(
                condition=Q(
                    share_cents__gte=0,
                    taxable_cents__gte=0,
                    taxable_cents=F("net_total_cents") - F("share_cents"),
                )
                | Q(optional=True, selected=False, share_cents=0, taxable_cents=0),
                name="quoteline_share",
            ),
        )
        triggers = (
            pgtrigger.Trigger(
                name="frozen",
                operation=pgtrigger.Insert | pgtrigger.Update | pgtrigger.Delete,
                when=pgtrigger.Before,
                func=LINE_FROZEN,
            ),
        )

    def __str__(self) -> str:
        return self.description

    @property
    def discount(self) -> Portion | None:
        return _portion(self.discount_percent, self.discount_cents)

    @property
    def counts(self) -> bool:
        """Whether it is part of the total as it stands."""
        return self.selected or not self.optional

    @property
    def is_overridden(self) -> bool:
        """Whether its price is not the one of the book that it came from. Reads `price`."""
        return self.price is not None and self.price.unit_price != self.unit_price

    def as_money(self, selected: Collection[uuid.UUID] | None = None) -> money.Line:
        """The line as `ledger.money` computes it; with `selected`, as if exactly those options were taken."""
        return money.Line(
            quantity=self.quantity,
            unit_price=self.unit_price,
            tax_rate=self.tax_rate,
            discount=self.discount,
            optional=self.optional,
            selected=self.selected if selected is None else self.pk in selected,
        )


def _portion(percent: Decimal | None, cents: int | None) -> Portion | None:
    return None if percent is None and cents is None else Portion(percent=percent, cents=cents)


def _let_off(lines: Sequence[QuoteLine], totals: money.Totals, rounding: Rounding, rounded: int) -> Decimal:
    """`rounded`: how many percentages of the document as a whole were rounded to cents."""
    reference = 0
    for line, row in zip(lines, totals.lines, strict=True):
        if row.counts:
            book = line.price.unit_price if line.price else line.unit_price
            reference += money.line_amount(line.quantity, max(book, line.unit_price), rounding)
            rounded += line.discount_percent is not None
    half_cents = 2 * (reference - (totals.subtotal - totals.discount)) - rounded
    return Decimal(-(-half_cents * 5_000 // reference)).scaleb(-2) if reference and half_cents > 0 else Decimal(0)
