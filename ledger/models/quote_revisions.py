"""What a quote says: its revisions. Their lines are in quote_lines.py; the database holds the freeze of both."""

import uuid
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar

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

if TYPE_CHECKING:
    from ledger.models.quote_lines import QuoteLine

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
        return Portion.given(self.discount_percent, self.discount_cents)

    @property
    def deposit(self) -> Portion | None:
        return Portion.given(self.deposit_percent, self.deposit_cents)

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


def _let_off(lines: "Sequence[QuoteLine]", totals: money.Totals, rounding: Rounding, rounded: int) -> Decimal:
    """`rounded`: how many percentages of the document as a whole were rounded to cents."""
    reference = 0
    for line, row in zip(lines, totals.lines, strict=True):
        if row.counts:
            book = line.price.unit_price if line.price else line.unit_price
            reference += money.line_amount(line.quantity, max(book, line.unit_price), rounding)
            rounded += line.discount_percent is not None
    half_cents = 2 * (reference - (totals.subtotal - totals.discount)) - rounded
    return Decimal(-(-half_cents * 5_000 // reference)).scaleb(-2) if reference and half_cents > 0 else Decimal(0)
