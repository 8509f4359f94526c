"""A member's own passkeys, and whether the company asks for them. Every change takes the password in the same form.

A session that somebody else holds, or a script in its page, has no password: it adds no key and removes none. The
challenge of a registration is the form's key: made for one answer, taken once.
"""

import secrets
import uuid
from datetime import timedelta
from typing import Any

from django.contrib import messages as flash
from django.db.models import Exists, OuterRef
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ledger import permissions, webauthn
from ledger.actions.passkeys import (
    MOST,
    add_passkey,
    passkeys_of,
    remove_passkey,
    require_passkeys,
    require_site,
)
from ledger.company_settings import current_settings
from ledger.errors import DomainError
from ledger.models import Membership, Passkey
from ledger.once import see_other
from ledger.views.access import MemberRequest, members_only
from ledger.views.answers import require
from ledger.views.waits import Door, take_back, wait_at

PENDING = "passkey_challenge"
ANSWER_WITHIN = timedelta(minutes=5)
WRONG_PASSWORDS, WAIT_SECONDS = 10, 300
"""So many wrong ones for one person, from wherever, and the wait after them: a stolen session may not guess on."""


@require_safe
@members_only
def passkeys(request: MemberRequest) -> HttpResponse:
    """The member's passkeys; for owners and admins also the company's rule."""
    return _page(request)


@require_POST
@members_only
def begin(request: MemberRequest) -> HttpResponse:
    """With the password and a name: what the browser is to make a key for, as JSON. 422 with a sentence otherwise."""
    name = request.POST.get("name", "").strip()[:80]
    try:
        _check_password(request)
        here = require_site()
        if not name:
            raise DomainError("REQUIRED", _("Give the passkey a name, so that you know it later."))
    except DomainError as error:
        return JsonResponse({"detail": error.sentence}, status=422)
    challenge = secrets.token_bytes(32)
    request.session[PENDING] = {
        "challenge": webauthn.encode(challenge),
        "name": name,
        "member": str(request.member.pk),
        "until": (timezone.now() + ANSWER_WITHIN).timestamp(),
    }
    member = request.member
    options = webauthn.creation_options(
        here,
        challenge=challenge,
        user_id=member.pk.bytes,
        user_name=member.user.email,
        display_name=f"{member.name} ({request.company.name})",
        known=[key.credential_id for key in passkeys_of(member)],
    )
    return JsonResponse({"options": options})


@require_POST
@members_only
def add(request: MemberRequest) -> HttpResponse:
    """Take the browser's answer (`credential`) to the challenge that `begin` made for this session."""
    pending = request.session.pop(PENDING, None)
    answer = request.POST.get("credential", "")
    try:
        if not answer:
            raise DomainError(
                "NO_ANSWER", _("Your browser made no passkey. It takes JavaScript and a device with a lock.")
            )
        if not pending or pending["member"] != str(request.member.pk) or pending["until"] < timezone.now().timestamp():
            raise DomainError("TOO_LATE", _("That took too long. Start again."))
        challenge = webauthn.decode(pending["challenge"])
        made = add_passkey(answer, name=pending["name"], challenge=challenge, by=request.member)
    except DomainError as error:
        return _page(request, problem=error.sentence, status=422)
    flash.success(request, _("“%(name)s” was added.") % {"name": made.name})
    return see_other(reverse("passkeys"))


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def remove(request: MemberRequest, passkey_id: uuid.UUID) -> HttpResponse:
    """Ask for the password, then take the key away for good."""
    found = Passkey.objects.filter(pk=passkey_id, member=request.member).first()
    if found is None:
        raise Http404
    problem = ""
    if request.method == "POST":
        try:
            _check_password(request)
            remove_passkey(found, by=request.member)
            flash.success(request, _("“%(name)s” was removed.") % {"name": found.name})
            return see_other(reverse("passkeys"))
        except DomainError as error:
            problem = error.sentence
    elif found.removed_at:
        return see_other(reverse("passkeys"))
    context = {"passkey": found, "problem": problem}
    return render(request, "account/remove_passkey.html", context, status=422 if problem else 200)


@require_POST
@members_only
def rule(request: MemberRequest) -> HttpResponse:
    """With the password: whether strong approvals of this company take a passkey (`on` is 1 or empty)."""
    require(request, "change_settings")
    try:
        _check_password(request)
        require_passkeys(request.POST.get("on") == "1", by=request.member)
    except DomainError as error:
        return _page(request, rule_problem=error.sentence, status=422)
    flash.success(request, _("Saved."))
    return see_other(reverse("passkeys"))


def _check_password(request: MemberRequest) -> None:
    """Raise WRONG_PASSWORD unless the form carries this person's own; TOO_MANY_TRIES, whether or not it does, during
    the wait after too many wrong ones.
    """
    door = Door(f"password:{request.member.user_id}", WRONG_PASSWORDS, WAIT_SECONDS)
    if wait_at(door):
        raise DomainError("TOO_MANY_TRIES", _("The password was wrong too often. Wait five minutes, then try again."))
    if not request.member.user.check_password(request.POST.get("password", "")[:4096]):
        raise DomainError("WRONG_PASSWORD", _("That is not your password."), field="password")
    take_back(door)


def _page(request: MemberRequest, *, problem: str = "", rule_problem: str = "", status: int = 200) -> HttpResponse:
    here, own = webauthn.site(), passkeys_of(request.member)
    asked_at = f"{request.scheme}://{request.get_host()}"
    context: dict[str, Any] = {
        "passkeys": own,
        "full": len(own) >= MOST,
        "site": here,
        "elsewhere": here.origin + reverse("passkeys") if here and here.origin != asked_at else "",
        "problem": problem,
        "rule_problem": rule_problem,
        "may_rule": permissions.allowed(request.member, "change_settings"),
        "required": current_settings().values.l3_passkey,
    }
    if context["may_rule"]:
        keys = Passkey.objects.filter(member=OuterRef("pk"), removed_at=None, site=here.rp_id if here else "")
        without = Membership.objects.filter(~Exists(keys), active=True, approve_l3=True).order_by("name")
        context["without"] = list(without.values_list("name", flat=True)[:50])
    return render(request, "account/passkeys.html", context, status=status)
