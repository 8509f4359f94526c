"""The chat page: conversations, what is typed, the stop button. Every form is a plain post; htmx gets fragments."""

import uuid

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.db import IntegrityError, transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from assistant.agent import inbox
from assistant.doors import frames, suggestions, thread
from assistant.doors.access import MemberRequest, conversation_of, members_only, own_conversation
from assistant.models import Conversation
from ledger import permissions
from ledger.errors import DomainError
from ledger.tenancy import new_id

LONGEST = 20_000
"""Characters of one message."""
TITLE = 60


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def conversations(request: MemberRequest) -> HttpResponse:
    """GET: a new conversation's first page. POST `text`, `key`: start one with this message, once for each key."""
    if request.method != "POST":
        return _first_page(request)
    try:
        text, key = _typed(request)
        conversation = _start(request, text, key)
        inbox.post_message(conversation, by=request.member, text=text, key=key)
    except DomainError as error:
        return _first_page(request, problem=error.sentence, draft=request.POST.get("text", ""), status=422)
    return redirect("chat:conversation", conversation.pk)


@require_GET
@members_only
def conversation(request: MemberRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """The page: the newest turns, or those before `?before=`."""
    return _page(request, conversation_of(request, conversation_id))


@require_POST
@members_only
def messages(request: MemberRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Say something: `text`, and `key` (a UUID) so that a repeated post is the same message (H22).

    htmx gets the bubble: 200, or 202 when it waits for a running answer; 422 with a sentence. A plain form gets 303.
    """
    conversation = own_conversation(request, conversation_id)
    try:
        text, key = _typed(request)
        before = conversation.seq
        posted = inbox.post_message(conversation, by=request.member, text=text, key=key)
    except DomainError as error:
        return _not_taken(request, conversation, error)
    if not request.htmx:
        return redirect("chat:conversation", conversation.pk)
    conversation.refresh_from_db()
    parts = _since(request, conversation, before)
    fresh = render_to_string("chat/key.html", {"key": new_id()})
    parts += format_html('<hx-partial hx-target="#message-key" hx-swap="outerHTML">{}</hx-partial>', SafeString(fresh))
    return HttpResponse(parts, status=202 if posted.message.turn_id is None else 200)


@require_POST
@members_only
def stop(request: MemberRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Stop the answer that is being written; what was said is kept, cards that wait are cancelled."""
    conversation = own_conversation(request, conversation_id)
    inbox.stop(conversation, by=request.member)
    return HttpResponse(status=204) if request.htmx else redirect("chat:conversation", conversation.pk)


def _typed(request: MemberRequest) -> tuple[str, uuid.UUID]:
    """The message and its key. Raises DomainError with a sentence for what cannot be taken."""
    permissions.require(request.member, "use_assistant")
    text = request.POST.get("text", "").replace("\r\n", "\n").replace("\x00", "").strip()
    if not text:
        raise DomainError("EMPTY", _("Write something first."))
    if len(text) > LONGEST:
        raise DomainError("TOO_LONG", _("That is too long: at most %(most)d characters.") % {"most": LONGEST})
    try:
        return text, uuid.UUID(request.POST.get("key", ""))
    except ValueError:
        raise DomainError("NO_KEY", _("This form is incomplete. Reload the page and try again.")) from None


def _start(request: MemberRequest, text: str, key: uuid.UUID) -> Conversation:
    """The conversation of this key: a second post of the same form finds the first one's."""
    words = " ".join(text.split())
    title = words if len(words) <= TITLE else f"{words[: TITLE - 1].rstrip()}…"
    try:
        with transaction.atomic():
            return Conversation.objects.create(id=key, starter=request.member, title=title)
    except IntegrityError:
        found = Conversation.objects.filter(pk=key, starter=request.member).first()
        if found is None:
            raise SuspiciousOperation("the key of another form") from None
        return found


def _page(
    request: MemberRequest, conversation: Conversation, *, problem: str = "", draft: str = "", status: int = 200
) -> HttpResponse:
    try:
        before = int(request.GET["before"]) if "before" in request.GET else None
    except ValueError:
        raise Http404 from None
    sections, earlier = thread.page(conversation, request.member, before)
    context = {
        "conversation": conversation,
        "sections": sections,
        "earlier": earlier,
        "live": before is None,
        "mine": conversation.starter_id == request.member.pk,
        "busy": thread.busy(conversation),
        "chip": frames.chip(conversation, request.member),
        "key": new_id(),
        "rehearsal": rehearsal(),
        "problem": problem,
        "draft": draft,
    }
    return render(request, "chat/conversation.html", context, status=status)


def _first_page(request: MemberRequest, *, problem: str = "", draft: str = "", status: int = 200) -> HttpResponse:
    context = {
        "key": new_id(),
        "suggestions": suggestions.for_member(request.member),
        "rehearsal": rehearsal(),
        "problem": problem,
        "draft": draft,
    }
    return render(request, "chat/list.html", context, status=status)


def _not_taken(request: MemberRequest, conversation: Conversation, error: DomainError) -> HttpResponse:
    if not request.htmx:
        return _page(request, conversation, problem=error.sentence, draft=request.POST.get("text", ""), status=422)
    html = format_html('<hx-partial hx-target="#composer-note" hx-swap="innerHTML">{}</hx-partial>', error.sentence)
    return HttpResponse(html, status=422)


def _since(request: MemberRequest, conversation: Conversation, seq: int) -> SafeString:
    """What this post changed, as the stream would send it: the page shows it without waiting for the stream."""
    parts = (
        frame.html
        for frame in frames.of_changes(conversation, request.member, seq)
        if frame.event in ("message", "turn")
    )
    return SafeString("").join(SafeString(part) for part in parts)


def rehearsal() -> bool:
    """Whether answers come from the built-in rehearsal model."""
    return not (settings.OPENAI_API_KEY or settings.OPENAI_BASE_URL)
