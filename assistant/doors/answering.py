"""What a click on a card is answered with: a fragment, a page, a redirect or JSON.

200 decided, or decided so by the same person before; 409 decided otherwise or changed, with the card as it stands;
422 not taken, with a sentence on the card; 404 not there or not yours. A plain form gets 303 to the card.
"""

from dataclasses import replace
from typing import Any

from django.contrib import messages as flash
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse

from assistant.doors import bodies, cards, edit_form, frames, inbox_frames, questions, wording
from assistant.doors.access import MemberRequest, see_other, signed_in_lately, wants_json
from assistant.doors.inbox_entries import entries
from assistant.doors.shapes import Card
from assistant.gate import reversing
from assistant.gate.approvals import Answer, Kind
from assistant.models import OPEN, Decision, PendingAction, Status
from assistant.tools import registry
from assistant.tools.effects import Level
from ledger.middleware import AfterCommit

STATUS = {Kind.DECIDED: 200, Kind.REPEATED: 200, Kind.CONFLICT: 409, Kind.REFUSED: 422}
WATCHED = (*OPEN, Status.SCHEDULED, Status.EXECUTING, Status.IN_DOUBT)


def answer_of(request: MemberRequest, answer: Answer, *, panel: str = "") -> HttpResponse:
    if answer.kind == Kind.MISSING or answer.action is None:
        raise Http404
    status = STATUS[answer.kind]
    if wants_json(request):
        return told(answer.action, outcome=str(answer.kind), sentence=answer.sentence, status=status)
    if request.htmx and _another_in_inbox(request, answer.action):
        return _beside(request, answer.action, status)
    if request.htmx or status == 422:
        shown = panel if answer.kind == Kind.REFUSED else ""
        return show(request, answer.action, panel=shown, wrong=answer.sentence, status=status)
    if answer.sentence:
        flash.warning(request, answer.sentence)
    return see_other("chat:action", answer.action.conversation_id, answer.action.pk)


def _another_in_inbox(request: MemberRequest, shown: PendingAction) -> bool:
    """Whether a click in the inbox on one card is answered by another one: it was edited, or its records changed."""
    page, clicked = request.htmx.current_url_abs_path or "", _clicked(request)
    return page.startswith(reverse("chat:inbox")) and clicked not in (None, shown.pk)


def _clicked(request: MemberRequest) -> Any:
    """The id of the card in the address."""
    return request.resolver_match.kwargs.get("action_id") if request.resolver_match else None


def _beside(request: MemberRequest, shown: PendingAction, status: int) -> HttpResponse:
    """Both cards as the inbox's own stream would bring them, each in its place; the new one has the focus."""
    made = [
        inbox_frames.placed(replace(entry, focus=entry.id == shown.pk), new=entry.id == shown.pk)
        for entry in entries([_clicked(request), shown.pk], request.member)
    ]
    return HttpResponse(frames.joined(made), status=status, headers={"HX-Reswap": "none"})


def another(request: MemberRequest, before: PendingAction, card: PendingAction) -> HttpResponse:
    """A new card was put up beside `before`. Where the stream brings it, it does; elsewhere one is led to it."""
    alone = request.htmx and not _brings_cards(request.htmx.current_url_abs_path or "", before)
    if alone and card.pk != before.pk:
        return HttpResponse(status=204, headers={"HX-Redirect": cards.url_of(card)})
    return answer_of(request, Answer(Kind.DECIDED, before if request.htmx else card))


def _brings_cards(page: str, before: PendingAction) -> bool:
    """Whether a page's own stream puts a new card on it: a conversation, or an inbox of what waits."""
    inbox = reverse("chat:inbox")
    if page.startswith(inbox):
        return page.partition("?")[0] in (inbox, reverse("chat:inbox_tab", args=["mine"]))
    return page != cards.url_of(before)


def told(action: PendingAction, *, outcome: str, sentence: str = "", status: int = 200) -> HttpResponse:
    """The answer for a program: how its request came out, and the action as it stands."""
    return JsonResponse({"outcome": outcome, "detail": sentence, "action": bodies.action(action)}, status=status)


def show(
    request: MemberRequest,
    shown: PendingAction,
    *,
    panel: str = "",
    wrong: str = "",
    status: int = 200,
    focus: bool = True,
) -> HttpResponse:
    made = registry.get(shown.tool)
    card = card_of(request, shown, wrong=wrong)
    editing = panel == "edit" and card.can_edit and made is not None
    by_login = made is not None and shown.level >= Level.STRONG and shown.status in OPEN and not card.sign
    context: dict[str, Any] = {
        "card": card,
        "panel": panel,
        "focus": focus,
        "reasons": wording.REASONS,
        "posted": request.POST,
        "watched": WATCHED,
        "sign_in": redirect_to_login(card.url).url if wrong and by_login and not signed_in_lately(request) else "",
        "fields": edit_form.fields(shown, made, request.POST or None) if editing and made else [],
    }
    if not request.htmx:
        return render(request, "cards/page.html", context, status=status)
    return AfterCommit(lambda: render_to_string("cards/card.html", context, request), status=status)


def card_of(request: MemberRequest, shown: PendingAction, *, wrong: str = "") -> Card:
    decisions = list(Decision.objects.filter(action=shown).select_related("member").order_by("slot"))
    before = shown.edited_from if shown.edited_from_id and shown.status in OPEN else None
    taken_back = next(iter(reversing.records([shown])), None)
    return cards.card(
        shown,
        request.member,
        decisions=decisions,
        asked=questions.of_all([shown.pk])[shown.pk],
        predecessor=before,
        taken_back=taken_back,
        wrong=wrong,
    )
