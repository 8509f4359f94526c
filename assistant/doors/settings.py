"""Settings of the assistant, for owners and admins: its switch, and the company's own review policy."""

import json
import uuid
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib import messages as flash
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from assistant.doors import review_words, wording
from assistant.doors.access import MemberRequest, members_only, see_other
from assistant.doors.settings_forms import FORMS, Data, PartForm, TextForm
from assistant.gate import pausing, policy_versions, review
from assistant.tools import registry
from ledger import permissions
from ledger.actions.company import change_settings
from ledger.company_settings import current_settings
from ledger.errors import DomainError, NotFound
from ledger.models import SubmittedForm
from ledger.text import clean_line

Params = ParamSpec("Params")
REMOVED = {"remove-rule": "rules", "remove-most": "most_cents", "remove-second": "second_by_tool"}
PUT_BACK = "put-back"


def heads_only(
    view: Callable[Concatenate[MemberRequest, Params], HttpResponse],
) -> Callable[Concatenate[Any, Params], HttpResponse]:
    """404 for members who may not change settings; strangers are sent to sign in."""

    @wraps(view)
    def guarded(request: MemberRequest, *args: Params.args, **kwargs: Params.kwargs) -> HttpResponse:
        if not permissions.allowed(request.member, "change_settings"):
            raise Http404
        return view(request, *args, **kwargs)

    return members_only(guarded)


@require_GET
@heads_only
def settings(request: MemberRequest) -> HttpResponse:
    """The switch, the way to the review policy, and the weekly letter."""
    context = {"paused": pausing.current(), "weekly": current_settings().values.weekly_letter}
    return render(request, "settings/settings.html", context)


@require_POST
@heads_only
def letter(request: MemberRequest) -> HttpResponse:
    """Write the owners the week's figures by mail (`on` is 1), or do not."""
    on = request.POST.get("on") == "1"
    change_settings(by=request.member, changes={"weekly_letter": on})
    flash.success(request, _("The weekly letter is on.") if on else _("The weekly letter is off."))
    return see_other("chat:settings")


@require_POST
@heads_only
def pause(request: MemberRequest) -> HttpResponse:
    """Pause the assistant, with a `reason` or without one. Pressed again, it stays paused."""
    pausing.pause(by=request.member, reason=clean_line(request.POST.get("reason", "")))
    flash.success(request, _("The assistant is paused. What waited for a decision was closed."))
    return see_other("chat:settings")


@require_POST
@heads_only
def turn_on(request: MemberRequest) -> HttpResponse:
    """End the pause that was looked at (`pause`, its id)."""
    try:
        pausing.turn_on(uuid.UUID(request.POST.get("pause", "")), by=request.member)
        flash.success(request, _("The assistant is on again. What was closed stays closed; ask again for it."))
    except ValueError:
        raise Http404 from None
    except DomainError as error:
        flash.warning(request, error.sentence)
    return see_other("chat:settings")


@require_GET
@heads_only
def review_policy(request: MemberRequest) -> HttpResponse:
    """The policy in plain sentences, with a form for each of its parts."""
    return _page(request)


@require_GET
@heads_only
def history(request: MemberRequest) -> HttpResponse:
    """Who changed what and when, newest first; `?before=` a number goes further back."""
    asked = request.GET.get("before", "")
    before = int(asked) if asked.isdecimal() and len(asked) < 9 else None
    versions, older = policy_versions.page(before)
    policies = [one.policy or one.before for one in versions] + [one.before for one in versions]
    words = review_words.words_for(request.company.currency, *policies)
    current = review.current()
    rows = [
        {
            "version": one,
            "change": review_words.difference(one.before, one.policy, words) if one.policy else ((), ()),
            "in_force": one.number == current.number,
            "key": uuid.uuid4(),
        }
        for one in versions
    ]
    context = {"rows": rows, "older": older, "expected": policy_versions.newest_number(current)}
    return render(request, "settings/history.html", context)


@require_POST
@heads_only
def change_policy(request: MemberRequest, part: str) -> HttpResponse:
    """Change one part: a new version in place of `expected`. What is refused keeps what was typed.

    `key` names the form: sent twice, it is taken once and leads to the same page.
    """
    current = review.current()
    form = FORMS[part](request.POST, **_of(request, current)) if part in FORMS else None
    if form is None and part not in (*REMOVED, PUT_BACK):
        raise Http404
    if form is not None and not form.is_valid():
        return _page(request, form, status=422)
    try:
        _once(request, lambda: _store(request, part, form, current))
    except NotFound:
        raise Http404 from None
    except DomainError as error:
        if form is None:
            flash.warning(request, error.sentence)
            return see_other("chat:review_policy")
        form.add_error("text" if isinstance(form, TextForm) else None, error.sentence)
        return _page(request, form, status=409 if error.code == "CHANGED_MEANWHILE" else 422)
    return see_other("chat:review_policy")


def _store(request: MemberRequest, part: str, form: PartForm | None, current: review.Current) -> None:
    number = request.POST.get("expected", "")
    expected = int(number) if number.isdecimal() and len(number) < 9 else -1
    if part == PUT_BACK:
        chosen = request.POST.get("number", "")
        if not (chosen.isdecimal() and len(chosen) < 9):
            raise NotFound(_("There is no such version."))
        stored = policy_versions.put_back(int(chosen), by=request.member, expected=expected)
    elif isinstance(form, TextForm):
        stored = review.change(by=request.member, text=form.cleaned_data["text"], expected=expected)
    else:
        data: Data = json.loads(review.as_text(current.policy))
        if form is not None:
            form.change(data)
        elif not _removed(data, REMOVED[part], request.POST.get("which", "")):
            raise DomainError("CHANGED_MEANWHILE", _("Somebody changed this meanwhile; look again."))
        stored = review.change(by=request.member, text=json.dumps(data), expected=expected)
    flash.success(request, _("Version %(number)s is in force.") % {"number": stored.number})


def _removed(data: Data, name: str, which: str) -> bool:
    """Take one rule (by its place) or one tool's entry out; False where it is not there."""
    held = data.get(name, [])
    if isinstance(held, dict):
        return held.pop(which, None) is not None
    if not (which.isdecimal() and len(which) < 4 and int(which) < len(held)):
        return False
    del held[int(which)]
    return True


def _once(request: MemberRequest, deed: Callable[[], None]) -> None:
    """Do the deed unless this form's key was taken; a deed that fails gives the key back (H22)."""
    try:
        key = uuid.UUID(request.POST.get("key", ""))
    except ValueError:
        sentence = _("This form is incomplete. Reload the page and try again.")
        raise DomainError("FORM_INCOMPLETE", sentence) from None
    with transaction.atomic():
        made = SubmittedForm.objects.bulk_create([SubmittedForm(key=key)], ignore_conflicts=True)
        if SubmittedForm.objects.filter(pk=made[0].pk).exists():
            deed()


def _of(request: MemberRequest, current: review.Current) -> dict[str, Any]:
    return {"policy": current.policy, "member": request.member, "currency": request.company.currency}


def _page(request: MemberRequest, bound: PartForm | None = None, *, status: int = 200) -> HttpResponse:
    """The page; the form that was refused stands in it as it was typed."""
    current = review.current()
    policy = current.policy
    words = review_words.words_for(request.company.currency, policy)
    forms = {part: form(**_of(request, current)) for part, form in FORMS.items()}
    forms["text"].initial["text"] = review.as_text(policy)
    if bound is not None:
        forms[bound.part] = bound
    gated = sorted((made for made in registry.TOOLS.values() if made.gated), key=lambda made: str(made.label))
    context = {
        "current": current,
        "expected": policy_versions.newest_number(current),
        "forms": forms,
        "bound": bound.part if bound is not None else "",
        "key": uuid.uuid4,
        "tools": [(made, review_words.LEVELS[made.level]) for made in gated],
        "rules": [review_words.rule(one, words) for one in policy.rules],
        "ceilings": [
            (tool, wording.tool_label(tool), words.amount(cents)) for tool, cents in policy.most_cents.items()
        ],
        "seconds": [
            (tool, wording.tool_label(tool), review_words.second(times))
            for tool, times in policy.second_by_tool.items()
        ],
    }
    return render(request, "settings/review.html", context, status=status)
