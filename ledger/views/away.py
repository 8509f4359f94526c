"""While I am away: who decides for whom, and until when."""

import uuid
import zoneinfo
from datetime import date, datetime, time, timedelta
from typing import Any

from django import forms
from django.contrib import messages as flash
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.views.decorators.http import require_http_methods, require_POST

from ledger import dates, permissions
from ledger.actions import delegations
from ledger.errors import DomainError, NotFound
from ledger.models import Membership
from ledger.once import once, see_other
from ledger.views.access import MemberRequest, members_only

USUALLY = timedelta(days=7)
FIELDS: dict[str, str] = {"taker": "taker", "ends_at": "last"}
"""The field that an error of the action is about."""


class AwayForm(forms.Form):
    """Whole days of the company: from the morning of the first to the end of the last."""

    giver: Any = forms.ModelChoiceField(None, label=lazy("Who is away"), empty_label=None)
    taker: Any = forms.ModelChoiceField(None, label=lazy("Who decides meanwhile"))
    first = forms.DateField(label=lazy("First day"), widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"))
    last = forms.DateField(label=lazy("Last day"), widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"))

    def __init__(self, *args: Any, member: Membership, zone: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        people = Membership.objects.filter(active=True).order_by("name", "pk")
        heads = permissions.allowed(member, "manage_members")
        self.fields["giver"].queryset = people if heads else people.filter(pk=member.pk)  # type: ignore[attr-defined]
        self.fields["taker"].queryset = people  # type: ignore[attr-defined]
        self.fields["giver"].initial = member.pk
        self.fields["first"].initial = dates.today(zone)
        self.fields["last"].initial = dates.today(zone) + USUALLY
        self._zone = zoneinfo.ZoneInfo(zone)

    def period(self) -> tuple[datetime, datetime]:
        """The instants at which it begins and is over."""
        return self._morning(self.cleaned_data["first"]), self._morning(self.cleaned_data["last"] + timedelta(days=1))

    def _morning(self, day: date) -> datetime:
        return datetime.combine(day, time(), self._zone)


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def away(request: MemberRequest) -> HttpResponse:
    """What is in force or will be, and a form for more."""
    given: dict[str, Any] = {"member": request.member, "zone": request.company.timezone}
    if request.method != "POST":
        return _page(request, AwayForm(**given))
    form = AwayForm(request.POST, **given)
    if not form.is_valid():
        return _page(request, form, status=422)
    try:
        return once(request, lambda: _delegated(request, form))
    except DomainError as error:
        form.add_error(FIELDS.get(str(error.data.get("field", ""))), error.sentence)
        return _page(request, form, status=422)


@require_POST
@members_only
def end(request: MemberRequest, delegation_id: uuid.UUID) -> HttpResponse:
    """Take one back at once."""
    try:
        delegations.end(delegation_id, by=request.member)
    except NotFound:
        raise Http404 from None
    except DomainError as error:
        flash.error(request, error.sentence)
    else:
        flash.success(request, _("It is over."))
    return see_other(reverse("away"))


def _delegated(request: MemberRequest, form: AwayForm) -> str:
    starts_at, ends_at = form.period()
    delegations.delegate(
        form.cleaned_data["giver"],
        form.cleaned_data["taker"],
        by=request.member,
        starts_at=starts_at,
        ends_at=ends_at,
    )
    return reverse("away")


def _page(request: MemberRequest, form: AwayForm, status: int = 200) -> HttpResponse:
    heads = permissions.allowed(request.member, "manage_members")
    rows = [
        {"row": row, "may_end": heads or request.member.pk in (row.giver_id, row.taker_id)}
        for row in delegations.standing()
    ]
    context = {"form": form, "rows": rows, "key": request.POST.get("key") or uuid.uuid4()}
    return render(request, "account/away.html", context, status=status)
