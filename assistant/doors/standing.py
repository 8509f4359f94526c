"""Standing approvals as people see them: what runs by which rule, what it would have done, the switch, the end."""

import uuid
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.contrib import messages as flash
from django.db.models import Count, Q, Sum
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assistant.doors import wording
from assistant.doors.access import MemberRequest, members_only
from assistant.doors.standing_forms import FIELDS, RuleForm
from assistant.gate import standing_rules
from assistant.models import StandingApproval
from ledger import dates, permissions
from ledger.errors import DomainError, NotFound
from ledger.models import Client, Lead
from ledger.once import once, see_other

ENDED_SHOWN = 20


@dataclass(frozen=True)
class Line:
    """A rule with what has run by it this month."""

    rule: StandingApproval
    label: str
    cents: int
    times: int


@require_safe
@members_only
def rules(request: MemberRequest) -> HttpResponse:
    """The rules in force, those not turned on yet, those that ended last, and what could be one."""
    _require_reader(request)
    month = _today(request).replace(day=1)
    used = Q(uses__month=month, uses__given_back_at=None)
    found = StandingApproval.objects.select_related("writer", "ended_by").annotate(
        cents=Sum("uses__amount_cents", filter=used, default=0), times=Count("uses", filter=used)
    )
    standing_now = found.filter(ended_at=None).order_by("-created_at")
    return render(
        request,
        "standing/rules.html",
        {
            "on": [_line(rule) for rule in standing_now if rule.on_at],
            "off": [_line(rule) for rule in standing_now if not rule.on_at],
            "ended": [_line(rule) for rule in found.exclude(ended_at=None).order_by("-ended_at")[:ENDED_SHOWN]],
            "offers": named_offers(),
        },
    )


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def write(request: MemberRequest) -> HttpResponse:
    """Write a rule; it is tried on the past and shown before anything runs by it."""
    _require_reader(request)
    company = request.company
    given: dict[str, Any] = {"member": request.member, "currency": company.currency, "zone": company.timezone}
    if request.method != "POST":
        initial = {name: request.GET.get(name, "")[:60] for name in ("tool", "party")}
        return _form(request, RuleForm(initial=initial, **given))
    form = RuleForm(request.POST, **given)
    if not form.is_valid():
        return _form(request, form, status=422)
    try:
        return once(request, lambda: _written(request, form))
    except DomainError as error:
        form.add_error(FIELDS.get(str(error.data.get("field", ""))), error.sentence)
        return _form(request, form, status=422)


@require_safe
@members_only
def rule(request: MemberRequest, rule_id: uuid.UUID) -> HttpResponse:
    """One rule: its bounds, what it would have done in the last ninety days, what has run by it."""
    _require_reader(request)
    found = StandingApproval.objects.select_related("writer", "ended_by").filter(pk=rule_id).first()
    if found is None:
        raise Http404
    uses = found.uses.filter(given_back_at=None).select_related("action").order_by("-at")
    return render(
        request,
        "standing/rule.html",
        {
            "rule": found,
            "label": wording.tool_label(found.tool),
            "replay": _replayed(found.replay),
            "uses": list(uses[:50]),
            "currency": request.company.currency,
            "may_turn_on": found.writer_id == request.member.pk and not found.on_at and not found.ended_at,
            "may_revoke": not found.ended_at
            and (found.writer_id == request.member.pk or permissions.allowed(request.member, "change_settings")),
        },
    )


@require_POST
@members_only
def turn_on(request: MemberRequest, rule_id: uuid.UUID) -> HttpResponse:
    """Let it count from now on."""
    today = _today(request)
    return _deed(
        request, rule_id, _("It is on."), lambda: standing_rules.turn_on(rule_id, by=request.member, today=today)
    )


@require_POST
@members_only
def revoke(request: MemberRequest, rule_id: uuid.UUID) -> HttpResponse:
    """End it at once."""
    return _deed(request, rule_id, _("It is revoked."), lambda: standing_rules.revoke(rule_id, by=request.member))


def _deed(request: MemberRequest, rule_id: uuid.UUID, done: str, deed: Any) -> HttpResponse:
    _require_reader(request)
    try:
        deed()
    except NotFound:
        raise Http404 from None
    except DomainError as error:
        flash.error(request, error.sentence)
    else:
        flash.success(request, done)
    return see_other(reverse("chat:standing_rule", args=[rule_id]))


def _written(request: MemberRequest, form: RuleForm) -> str:
    made = standing_rules.write(form.scope(), by=request.member, today=_today(request))
    return reverse("chat:standing_rule", args=[made.pk])


def _form(request: MemberRequest, form: RuleForm, status: int = 200) -> HttpResponse:
    key = request.POST.get("key") or uuid.uuid4()
    return render(request, "standing/write.html", {"form": form, "key": key}, status=status)


def named_offers() -> list[dict[str, Any]]:
    """What was always confirmed as it was, with the names of whom it concerned: one query for each kind of party."""
    offers = standing_rules.offers()[:10]
    ids = [offer.party_id for offer in offers]
    named: dict[uuid.UUID, tuple[str, str]] = {}
    for model in (Client, Lead):
        rows = model.objects.filter(pk__in=ids, deleted_at=None).values_list("pk", "ref", "name")
        named |= {pk: (ref, name) for pk, ref, name in rows}
    return [
        {
            "tool": offer.tool,
            "label": wording.tool_label(offer.tool),
            "ref": named[offer.party_id][0],
            "name": named[offer.party_id][1],
            "times": offer.times,
        }
        for offer in offers
        if offer.party_id in named
    ]


def _replayed(replay: dict[str, Any]) -> dict[str, Any]:
    """With days as days."""
    dated = {
        name: [one | {"day": date.fromisoformat(one["day"])} for one in replay[name]] for name in ("rejected", "edited")
    }
    return replay | dated


def _line(rule: Any) -> Line:
    return Line(rule, wording.tool_label(rule.tool), rule.cents, rule.times)


def _today(request: MemberRequest) -> Any:
    return dates.today(request.company.timezone)


def _require_reader(request: MemberRequest) -> None:
    if not permissions.allowed(request.member, "use_assistant"):
        raise Http404
