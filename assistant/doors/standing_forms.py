"""The form of a standing approval: which action, for whom, how much, until when. Words and figures as people write."""

from datetime import timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from assistant.gate import policy
from assistant.gate.standing_rules import Scope
from assistant.tools import registry
from assistant.tools.effects import Level
from ledger import dates
from ledger.actions.records import by_ref
from ledger.errors import NotFound
from ledger.figure_fields import PriceField
from ledger.models import BusinessModel, Client, Lead, Membership

USUALLY = timedelta(days=90)


class RuleForm(forms.Form):
    """`scope()` gives what `standing_rules.write` takes."""

    tool = forms.ChoiceField(label=lazy("Kind of action"))
    party = forms.CharField(
        label=lazy("Client or lead"),
        max_length=24,
        required=False,
        help_text=lazy("Its number, as C-0012. Empty is every client: only for plain messages and bookings."),
    )
    most = PriceField(label=lazy("At most, each time"), required=False)
    month = PriceField(label=lazy("At most, in one month"), required=False)
    times = forms.IntegerField(label=lazy("How often in one month"), min_value=1, max_value=10_000, required=False)
    valid_until = forms.DateField(
        label=lazy("Until"), widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    strong = forms.BooleanField(
        label=lazy("Money may leave by this rule without a click. I want that."), required=False
    )
    note = forms.CharField(label=lazy("Note"), max_length=300, required=False)

    def __init__(self, *args: Any, member: Membership, currency: str, zone: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["tool"].choices = choices(member)  # type: ignore[attr-defined]
        for name in ("most", "month"):
            self.fields[name].currency = currency  # type: ignore[attr-defined]
        self.today = dates.today(zone)
        self.fields["valid_until"].initial = self.today + USUALLY

    def clean_party(self) -> BusinessModel | None:
        ref = self.cleaned_data["party"].strip()
        for model in (Client, Lead):
            try:
                return by_ref(model, ref) if ref else None
            except NotFound:
                continue
        raise forms.ValidationError(_("There is no client or lead of this number."))

    def scope(self) -> Scope:
        given = self.cleaned_data
        return Scope(
            tool=given["tool"],
            party=given["party"],
            most_cents=_cents(given["most"]),
            month_cents=_cents(given["month"]),
            month_times=given["times"],
            valid_until=given["valid_until"],
            strong=given["strong"],
            note=given["note"],
        )


FIELDS = {"party": "party", "month_times": "times", "most": "most", "strong": "strong", "valid_until": "valid_until"}
"""The field that an error of the gate is about."""


def choices(member: Membership) -> list[tuple[str, str]]:
    """The kinds of action that this member may approve, weakest first."""
    gated = [made for made in registry.TOOLS.values() if made.gated and policy.has_right(member, made, made.level)]
    ordered = sorted(gated, key=lambda made: (made.level, str(made.label)))
    return [(made.name, f"{made.label} (L{int(made.level)})") for made in ordered if made.level <= Level.STRONG]


def _cents(amount: Any) -> int | None:
    return None if amount is None else int(amount * 100)
