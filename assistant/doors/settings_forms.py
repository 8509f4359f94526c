"""The forms of the review policy: what a person types, as a part of the policy's data."""

from collections.abc import Iterator
from typing import Any, cast

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from assistant.doors import review_words, wording
from assistant.gate.review import DOMAIN, LONGEST, Policy
from assistant.tools import registry
from ledger import reader
from ledger.actions.search import search_records
from ledger.amounts import Ambiguous, read_price
from ledger.cents import MoneyError
from ledger.models import Client, Lead, Membership, Role
from ledger.refs import is_ref

Data = dict[str, Any]
"""A policy as it is stored, with what is at its default left out; a form changes it in place."""
DAY = 1440
WEEK = 7 * DAY
MATCHES = {
    "": lazy("However it was found"),
    "single fuzzy": lazy("Not named by its number"),
    "fuzzy": lazy("Found among several or by a similar spelling"),
}
CANDIDATES = 6


class CentsField(forms.CharField):
    """An amount as people write it, in the reader's way and the company's currency; empty is none."""

    widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
    currency = "USD"

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text:
            return None
        try:
            found = read_price(text, reader.locale(), self.currency)
        except MoneyError as error:
            raise forms.ValidationError(error.sentence) from error
        if isinstance(found, Ambiguous):
            shown = _(" or ").join(reader.amount(cents, self.currency) for cents in found.candidates)
            raise forms.ValidationError(_("Do you mean %(shown)s?") % {"shown": shown})
        return found.cents


class PartForm(forms.Form):
    """One part of the policy. `part` names it in the address; `title` stands above it."""

    part = ""

    def __init__(self, data: Any = None, *, policy: Policy, member: Membership, currency: str) -> None:
        self.policy, self.member = policy, member
        self.currency = currency
        super().__init__(data, initial=self.standing(policy), auto_id=f"{self.part}-%s", label_suffix="")
        for field in self.fields.values():
            if isinstance(field, CentsField):
                field.currency = currency

    def standing(self, policy: Policy) -> dict[str, Any]:
        """What the fields show before anybody types."""
        return {}

    def change(self, data: Data) -> None:
        """Write what was typed into the policy."""
        raise NotImplementedError


def _tools() -> Iterator[tuple[str, str]]:
    gated = (made for made in registry.TOOLS.values() if made.gated)
    yield from sorted(((made.name, str(made.label)) for made in gated), key=lambda pair: pair[1])


def _any_tool() -> list[tuple[str, str]]:
    return [("", _("Everything that has a card")), *_tools()]


class RuleForm(PartForm):
    """A rule: where it applies, and what it then asks for."""

    part = "rule"
    tool = forms.ChoiceField(label=lazy("What"), choices=_any_tool, required=False)
    amount_from = CentsField(label=lazy("Amount from"), required=False, help_text=lazy("Empty: any amount."))
    counterparty = forms.CharField(
        label=lazy("Client or lead"),
        required=False,
        max_length=120,
        help_text=lazy("A number or a name. Empty: anybody."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    match = forms.ChoiceField(label=lazy("How it was found"), choices=list(MATCHES.items()), required=False)
    role = forms.ChoiceField(label=lazy("Asked for by"), required=False)
    door = forms.ChoiceField(label=lazy("Through"), required=False)
    outside = forms.BooleanField(label=lazy("Only after something from outside was read"), required=False)
    level = forms.TypedChoiceField(label=lazy("Then at least"), choices=list(review_words.LEVELS.items()), coerce=int)
    people = forms.TypedChoiceField(
        label=lazy("People"), choices=[(1, lazy("One person")), (2, lazy("Two people"))], coerce=int
    )
    refused = forms.BooleanField(label=lazy("Refuse it altogether"), required=False)

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.candidates: list[tuple[str, str]] = []
        for name, known in (("role", Role.choices), ("door", wording.DOORS.items())):
            kept = [(code, words) for code, words in known if code not in ("admin", "system") or name == "role"]
            field = cast("forms.ChoiceField", self.fields[name])
            field.choices = [("", _("Anybody") if name == "role" else _("Any way")), *kept]

    def clean_counterparty(self) -> str:
        """The ref. A name that several have is asked about: `which` is the one that was picked of them."""
        text = " ".join(self.cleaned_data["counterparty"].split())
        picked = str(self.data.get("which", "")).strip().upper()
        if not text:
            return ""
        ref = picked if is_ref(picked) else text.upper()
        if is_ref(ref):
            if not any(model.objects.filter(ref=ref, deleted_at=None).exists() for model in (Client, Lead)):
                raise forms.ValidationError(_("There is no client or lead of that number."))
            return ref
        hits = search_records(text, by=self.member, types=("client", "lead"), limit=CANDIDATES).hits
        if not hits:
            raise forms.ValidationError(_("No client or lead is called that."))
        if len(hits) > 1:
            self.candidates = [
                (hit.ref, ", ".join(part for part in (hit.name, hit.ref, hit.details.get("city", "")) if part))
                for hit in hits
            ]
            raise forms.ValidationError(_("More than one fits. Choose one."))
        return hits[0].ref

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if given.get("level", 1) == 1 and given.get("people", 1) == 1 and not given.get("refused"):
            raise forms.ValidationError(_("Say what the rule asks for: a higher level, two people, or refuse it."))
        return given

    def change(self, data: Data) -> None:
        given = self.cleaned_data
        made: Data = {
            "tools": [given["tool"]] if given["tool"] else [],
            "amount_from_cents": given["amount_from"],
            "counterparty": given["counterparty"],
            "match": given["match"].split(),
            "roles": [given["role"]] if given["role"] else [],
            "doors": [given["door"]] if given["door"] else [],
            "outside": True if given["outside"] else None,
            "level": 1 if given["refused"] else given["level"],
            "people": 1 if given["refused"] else given["people"],
            "refused": given["refused"],
        }
        data["rules"] = [*data.get("rules", []), made]


class DailyForm(PartForm):
    """What all confirmed actions of a day may come to."""

    part = "daily"
    money_out = CentsField(label=lazy("Money out"), required=False)
    money_in = CentsField(label=lazy("Money asked for"), required=False)
    messages = forms.IntegerField(label=lazy("Messages"), required=False, min_value=0, max_value=10**6)
    parties = forms.IntegerField(label=lazy("Clients and leads"), required=False, min_value=0, max_value=10**6)

    def standing(self, policy: Policy) -> dict[str, Any]:
        daily = policy.daily
        return {
            "money_out": _bare(daily.money_out_cents),
            "money_in": _bare(daily.money_in_cents),
            "messages": daily.messages,
            "parties": daily.parties,
        }

    def change(self, data: Data) -> None:
        given = self.cleaned_data
        data["daily"] = {
            "money_out_cents": given["money_out"],
            "money_in_cents": given["money_in"],
            "messages": given["messages"],
            "parties": given["parties"],
        }


class CeilingForm(PartForm):
    """The highest amount of one action of a tool."""

    part = "most"
    tool = forms.ChoiceField(label=lazy("What"), choices=_tools)
    most = CentsField(label=lazy("At most"), required=True)

    def change(self, data: Data) -> None:
        data["most_cents"] = data.get("most_cents", {}) | {self.cleaned_data["tool"]: self.cleaned_data["most"]}


class DomainsForm(PartForm):
    """Where mail may go, where not everywhere."""

    part = "domains"
    domains = forms.CharField(
        label=lazy("Domains"),
        required=False,
        max_length=4000,
        help_text=lazy("One on each line, with all that is below it. Empty: anywhere."),
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "autocapitalize": "none"}),
    )

    def standing(self, policy: Policy) -> dict[str, Any]:
        return {"domains": "\n".join(policy.recipient_domains)}

    def clean_domains(self) -> list[str]:
        lines = [line.strip().casefold().removeprefix("@") for line in self.cleaned_data["domains"].splitlines()]
        found = list(dict.fromkeys(line for line in lines if line))
        wrong = [line for line in found if not DOMAIN.fullmatch(line)]
        if wrong:
            raise forms.ValidationError(_("“%(text)s” is no domain.") % {"text": wrong[0][:80]})
        return found

    def change(self, data: Data) -> None:
        data["recipient_domains"] = self.cleaned_data["domains"]


class SecondForm(PartForm):
    """How long a second person is waited for, for everything or for one tool."""

    part = "second"
    tool = forms.ChoiceField(label=lazy("What"), choices=_any_tool, required=False)
    escalate = forms.IntegerField(label=lazy("The backup is called after (minutes)"), min_value=1, max_value=WEEK)
    expire = forms.IntegerField(label=lazy("Nobody has decided after (minutes)"), min_value=2, max_value=WEEK)

    def standing(self, policy: Policy) -> dict[str, Any]:
        return {"escalate": policy.second.escalate_minutes, "expire": policy.second.expire_minutes}

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if given.get("escalate", 0) >= given.get("expire", WEEK + 1):
            self.add_error("expire", _("The backup is called before the time is over: choose a longer time."))
        return given

    def change(self, data: Data) -> None:
        given = self.cleaned_data
        times = {"escalate_minutes": given["escalate"], "expire_minutes": given["expire"]}
        if given["tool"]:
            data["second_by_tool"] = data.get("second_by_tool", {}) | {given["tool"]: times}
        else:
            data["second"] = times


class RestForm(PartForm):
    """The cooling-off of a company with one approver, and the share of deeds that are looked at afterwards."""

    part = "rest"
    cooling_off = forms.IntegerField(
        label=lazy("Time to take it back where one person decides alone (minutes)"), min_value=1, max_value=DAY
    )
    review_percent = forms.IntegerField(
        label=lazy("Share that is looked at afterwards (%)"), min_value=0, max_value=100
    )

    def standing(self, policy: Policy) -> dict[str, Any]:
        return {"cooling_off": round(policy.cooling_off_seconds / 60), "review_percent": policy.review_percent}

    def change(self, data: Data) -> None:
        given = self.cleaned_data
        if given["cooling_off"] != self.standing(self.policy)["cooling_off"]:
            data["cooling_off_seconds"] = given["cooling_off"] * 60
        data["review_percent"] = given["review_percent"]


class TextForm(PartForm):
    """The whole policy as its text; what is wrong with it is said by its place."""

    part = "text"
    text = forms.CharField(
        label=lazy("The policy as JSON"),
        max_length=LONGEST,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 12, "spellcheck": "false", "autocapitalize": "none", "class": "code"}),
    )


FORMS: dict[str, type[PartForm]] = {
    form.part: form for form in (RuleForm, DailyForm, CeilingForm, DomainsForm, SecondForm, RestForm, TextForm)
}


def _bare(cents: int | None) -> str:
    return "" if cents is None else reader.bare_amount(cents)
