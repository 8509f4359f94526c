"""The form of a quote: its lines, a place for one more, and what it says beside them. The rules are the actions'."""

from collections.abc import Iterator, Sequence
from typing import Any

from django import forms
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from ledger import reader
from ledger.actions.quote_lines import (
    EXEMPT,
    MOST_CHANGES,
    STANDARD_TAX,
    AddLine,
    ChangeLine,
    LineChange,
    LineDraft,
    MoveLine,
    RemoveLine,
    edit_quote_lines,
)
from ledger.actions.quote_terms import MOST_TERMS, VALID_DAYS, QuoteTerms, set_quote_terms
from ledger.company_settings import current_settings
from ledger.figure_fields import NOTHING, PortionField, PriceField, QuantityField, same
from ledger.models import Membership, PriceItem, PriceVersion, Quote, QuoteLine, QuoteRevision
from ledger.money import Portion

KEEP = ""
WIDE = forms.Textarea(attrs={"rows": 3})


class LineForm(forms.Form):
    """One line that stands."""

    description = forms.CharField(label=lazy("Description"), max_length=300)
    quantity = QuantityField(label=lazy("Quantity"), max_length=40)
    unit = forms.CharField(label=lazy("Unit"), max_length=12, required=False)
    unit_price = PriceField(label=lazy("Unit price"), max_length=40)
    discount = PortionField(label=lazy("Discount"), max_length=40, required=False)
    tax = forms.ChoiceField(label=lazy("Tax"), required=False)
    place = forms.IntegerField(label=lazy("Place"), min_value=1)
    optional = forms.BooleanField(label=lazy("Optional"), required=False)
    remove = forms.BooleanField(label=lazy("Remove"), required=False)

    def __init__(self, data: Any, line: QuoteLine, taxes: Sequence[tuple[str, str]], currency: str) -> None:
        plain = {name: getattr(line, name) for name in ("description", "unit", "optional")}
        super().__init__(data, prefix=f"line-{line.position}", initial=plain | {"place": line.position, "tax": KEEP})
        self.line = line
        fields: dict[str, Any] = self.fields
        fields["tax"].choices = [(KEEP, f"{reader.number(line.tax_rate)}%"), *taxes]
        figures = {"quantity": line.quantity, "unit_price": line.unit_price, "discount": discount_of(line)}
        for name, value in figures.items():
            fields[name].currency = currency
            fields[name].stand(value)

    @property
    def removed(self) -> bool:
        return bool(self.cleaned_data["remove"])

    def change(self) -> ChangeLine | None:
        """What is different from the line that stands, if anything is."""
        data, line = self.cleaned_data, self.line
        given: dict[str, Any] = {
            name: data[name] for name in ("description", "unit", "optional") if data[name] != getattr(line, name)
        }
        if data["unit_price"] != line.unit_price:
            given["unit_price"] = data["unit_price"]
        if not same(data["discount"], discount_of(line)):
            given["discount"] = data["discount"] or NOTHING
        if data["tax"] != KEEP:
            given["tax_code"] = data["tax"]
        if not given and data["quantity"] == line.quantity:
            return None
        return ChangeLine(line.position, LineDraft(quantity=data["quantity"], **given))


class NewLineForm(forms.Form):
    """One line more: an item of the price book, or words and a price of its own. Left empty, it adds nothing."""

    item: Any = forms.ModelChoiceField(
        label=lazy("From the price book"), queryset=None, required=False, to_field_name="ref", empty_label="–"
    )
    description = forms.CharField(label=lazy("Description"), max_length=300, required=False)
    quantity = QuantityField(label=lazy("Quantity"), max_length=40, required=False)
    unit = forms.CharField(label=lazy("Unit"), max_length=12, required=False)
    unit_price = PriceField(label=lazy("Unit price"), max_length=40, required=False)

    def __init__(self, data: Any, currency: str) -> None:
        super().__init__(data, prefix="new")
        fields: dict[str, Any] = self.fields
        fields["unit_price"].currency = currency
        fields["item"].queryset = PriceItem.objects.filter(deleted_at=None, active=True).order_by("name")
        fields["item"].label_from_instance = lambda item: f"{item.name} ({item.code})"

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        if self.has_changed() and not self.errors:
            if not data["quantity"]:
                self.add_error("quantity", _("How many?"))
            if not data["item"] and not data["description"]:
                self.add_error("description", _("Say what the line is for."))
            if not data["item"] and data["unit_price"] is None:
                self.add_error("unit_price", _("A line needs an item of the price book or a price of its own."))
        return data

    def change(self) -> AddLine | None:
        if not self.has_changed():
            return None
        data = self.cleaned_data
        return AddLine(
            LineDraft(
                quantity=data["quantity"],
                item=data["item"],
                description=data["description"] or None,
                unit=data["unit"] or None,
                unit_price=data["unit_price"],
            )
        )


class QuoteTermsForm(forms.Form):
    """What the quote says beside its lines."""

    title = forms.CharField(label=lazy("Title"), max_length=160)
    discount = PortionField(
        label=lazy("Discount"), max_length=40, required=False, help_text=lazy("A percentage (5%) or an amount")
    )
    deposit = PortionField(
        label=lazy("Deposit"), max_length=40, required=False, help_text=lazy("A percentage (30%) or an amount")
    )
    valid_days = forms.IntegerField(label=lazy("Days that it holds"), min_value=VALID_DAYS[0], max_value=VALID_DAYS[-1])
    terms = forms.CharField(label=lazy("Terms"), max_length=MOST_TERMS, required=False, widget=WIDE)

    def __init__(self, data: Any, quote: Quote, revision: QuoteRevision) -> None:
        stands = {"title": quote.title, "valid_days": quote.valid_days, "terms": revision.terms}
        super().__init__(data, initial=stands)
        self.portions = {name: _portion(revision, name) for name in ("discount", "deposit")}
        fields: dict[str, Any] = self.fields
        for name, value in self.portions.items():
            fields[name].currency = quote.currency
            fields[name].stand(value)

    def changes(self) -> QuoteTerms | None:
        """What is different from what stands, if anything is."""
        data = self.cleaned_data
        terms = data["terms"].replace("\r\n", "\n")
        plain = {"title": data["title"], "valid_days": data["valid_days"], "terms": terms}
        given: dict[str, Any] = {name: value for name, value in plain.items() if value != self.initial[name]}
        given |= {name: data[name] or NOTHING for name, stood in self.portions.items() if not same(data[name], stood)}
        return QuoteTerms(**given) if given else None


class QuoteEditor:
    """The three together, for one draft."""

    def __init__(self, data: Any, quote: Quote, revision: QuoteRevision, lines: Sequence[QuoteLine]) -> None:
        taxes = tax_choices()
        self.quote = quote
        self.lines = [LineForm(data, line, taxes, quote.currency) for line in lines]
        self.new = NewLineForm(data, quote.currency)
        self.terms = QuoteTermsForm(data, quote, revision)

    @property
    def forms(self) -> list[forms.Form]:
        return [*self.lines, self.new, self.terms]

    def is_valid(self) -> bool:
        """Each form is asked, so that everything that is wrong is said at once."""
        return not [form for form in self.forms if not form.is_valid()]

    @property
    def wrong(self) -> bool:
        return any(form.errors for form in self.forms)

    @transaction.atomic
    def save(self, *, by: Membership, expected_version: int) -> None:
        """Store what is different, all or nothing. Raises what the actions raise."""
        changes = list(self._line_changes())
        for at in range(0, len(changes), MOST_CHANGES):
            batch = changes[at : at + MOST_CHANGES]
            edit_quote_lines(self.quote, by=by, expected_version=expected_version, changes=batch)
            expected_version += 1
        terms = self.terms.changes()
        if terms:
            set_quote_terms(self.quote, by=by, expected_version=expected_version, changes=terms)

    def _line_changes(self) -> Iterator[LineChange]:
        """Changes by the numbers that stand, then what goes (from the end), what comes, and who changes places."""
        kept = [form for form in self.lines if not form.removed]
        yield from filter(None, (form.change() for form in kept))
        yield from (RemoveLine(form.line.position) for form in reversed(self.lines) if form.removed)
        added = self.new.change()
        if added:
            yield added
        order = [form.line.position for form in kept]
        wanted = [form.line.position for form in sorted(kept, key=_wish)]
        for place, position in enumerate(wanted):
            at = order.index(position)
            if at != place:
                order.insert(place, order.pop(at))
                yield MoveLine(at + 1, place + 1)


def _wish(form: LineForm) -> tuple[int, int, int]:
    """By the place that is wanted. Who moves up comes before whom stands there, who moves down behind."""
    wanted, stands = form.cleaned_data["place"], form.line.position
    return (wanted, 0 if wanted < stands else 2 if wanted > stands else 1, stands)


def tax_choices() -> list[tuple[str, str]]:
    """The taxes that a line may be given: the company's, none, and those of the price book."""
    rate = reader.number(current_settings().values.tax_rate)
    found = [(STANDARD_TAX, _("Standard, %(rate)s%%") % {"rate": rate}), (EXEMPT, _("No tax"))]
    known = PriceVersion.objects.exclude(tax_code__in=["", STANDARD_TAX, EXEMPT])
    rates = dict(known.order_by("pk").values_list("tax_code", "tax_rate"))
    return [*found, *((code, f"{code}, {reader.number(rate)}%") for code, rate in sorted(rates.items()))]


def discount_of(line: QuoteLine) -> Portion | None:
    return Portion.given(line.discount_percent, line.discount_cents)


def _portion(revision: QuoteRevision, name: str) -> Portion | None:
    return Portion.given(getattr(revision, f"{name}_percent"), getattr(revision, f"{name}_cents"))
