"""The chat page: conversations, what is typed, the stop button. Every form is a plain post; htmx gets fragments."""

import uuid

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.db import IntegrityError, transaction
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from assistant.agent import inbox
from assistant.doors import access, bodies, frames, suggestions, thread
from assistant.doors.access import (
    MemberRequest,
    conversation_of,
    members_only,
    own_conversation,
    see_other,
    wants_json,
)
from assistant.models import Conversation, Turn
from ledger.errors import DomainError, NotFound
from ledger.middleware import AfterCommit
from ledger.models import Via
from ledger.tenancy import new_id


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def conversations(request: MemberRequest) -> HttpResponse:
    """GET: a new conversation's first page. POST `text`, `key`: start one with this message, once for each key."""
    if request.method != "POST":
        return _first_page(request)
    try:
        text, key = _typed(request)
        with transaction.atomic():
            conversation = _start(request, key)
            inbox.post_message(conversation.pk, by=request.member, text=text, key=key, door=Via.WEB)
    except DomainError as error:
        return _first_page(request, problem=error.sentence, draft=request.POST.get("text", ""), status=422)
    return see_other("chat:conversation", conversation.pk)


@require_GET
@members_only
def conversation(request: MemberRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """The page: the newest turns, or those before `?before=`."""
    return _page(request, conversation_of(request, conversation_id))


@require_POST
@members_only
def messages(request: MemberRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Say something: `text`, and `key` (a UUID) so that a repeated post is the same message (H22).

    htmx gets the bubble: 200, or 202 when it waits for a running answer; 422 with a sentence. A program gets the
    message, with the same numbers. A plain form gets 303.
    """
    try:
        text, key = _typed(request)
        posted = inbox.post_message(conversation_id, by=request.member, text=text, key=key, door=Via.WEB)
    except NotFound:
        raise Http404 from None
    except DomainError as error:
        return _not_taken(request, own_conversation(request, conversation_id), error)
    status = 200 if posted.turn or posted.line else 202
    if wants_json(request):
        return _taken(posted, status)
    if not request.htmx:
        return see_other("chat:conversation", conversation_id)
    if posted.turn is not None and not posted.again:
        message, turn = posted.message, posted.turn
        return AfterCommit(lambda: frames.begun(message, turn) + _fresh_key(), status=status)
    return HttpResponse(_changed(request, posted) + _fresh_key(), status=status)


def _fresh_key() -> SafeString:
    """The form's next key."""
    fresh = render_to_string("chat/key.html", {"key": new_id()})
    return format_html('<hx-partial hx-target="#message-key" hx-swap="outerHTML">{}</hx-partial>', SafeString(fresh))


@require_POST
@members_only
def stop(request: MemberRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Stop the answer that is being written; what was said is kept, cards that wait are cancelled."""
    try:
        stopped = inbox.stop(conversation_id, by=request.member)
    except NotFound:
        raise Http404 from None
    if wants_json(request):
        return _stopped(stopped)
    return HttpResponse(status=204) if request.htmx else see_other("chat:conversation", conversation_id)


@require_POST
@members_only
def retry(request: MemberRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Let the answer that was cut off (`turn`) go on. What was confirmed is never run again."""
    conversation = own_conversation(request, conversation_id)
    try:
        turn = Turn.objects.get(pk=uuid.UUID(request.POST.get("turn", "")), conversation=conversation)
        inbox.retry(turn.pk, by=request.member)
    except (ValueError, Turn.DoesNotExist):
        raise Http404 from None
    except DomainError as error:
        return _not_taken(request, conversation, error)
    return HttpResponse(status=204) if request.htmx else see_other("chat:conversation", conversation_id)


def _typed(request: MemberRequest) -> tuple[str, uuid.UUID]:
    """The message and its key. Raises DomainError with a sentence for what cannot be taken."""
    try:
        given = access.posted(request)
        return given.get("text", ""), uuid.UUID(given.get("key", ""))
    except ValueError:
        raise DomainError("NO_KEY", _("This form is incomplete. Reload the page and try again.")) from None


def _start(request: MemberRequest, key: uuid.UUID) -> Conversation:
    """The conversation of this key: a second post of the same form finds the first one's."""
    try:
        with transaction.atomic():
            return Conversation.objects.create(id=key, starter=request.member)
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


def _taken(posted: inbox.Posted, status: int) -> HttpResponse:
    """What was said, as it is stored, and the line of the system where that is the whole answer."""
    line = bodies.message(posted.line, []) if posted.line else None
    return JsonResponse({"message": bodies.message(posted.message, []), "line": line}, status=status)


def _stopped(stopped: inbox.Stopped) -> HttpResponse:
    """Which turn was stopped (null: none ran), and what became of its actions."""
    groups = {"cancelled": stopped.cancelled, "too_late": stopped.too_late, "undoable": stopped.undoable}
    turn = str(stopped.turn.pk) if stopped.turn else None
    return JsonResponse({"turn": turn, **{name: [str(one.pk) for one in group] for name, group in groups.items()}})


def _not_taken(request: MemberRequest, conversation: Conversation, error: DomainError) -> HttpResponse:
    if wants_json(request):
        return JsonResponse({"detail": error.sentence}, status=422)
    if not request.htmx:
        return _page(request, conversation, problem=error.sentence, draft=request.POST.get("text", ""), status=422)
    html = format_html('<hx-partial hx-target="#composer-note" hx-swap="innerHTML">{}</hx-partial>', error.sentence)
    return HttpResponse(html, status=422)


def _changed(request: MemberRequest, posted: inbox.Posted) -> SafeString:
    """What this post changed, as the stream would send it: the page shows it without waiting for the stream.

    Nothing else: an answer that has begun since is the stream's alone, which adds to it word by word.
    """
    own = {row.pk for row in (posted.message, posted.line, posted.turn) if row is not None}
    conversation = own_conversation(request, posted.message.conversation_id)
    fresh = frames.of_changes(conversation, request.member, posted.message.seq - 1)
    return frames.joined(frame.html for frame in fresh if frame.row in own)


def rehearsal() -> bool:
    """Whether answers come from the built-in rehearsal model."""
    return not (settings.OPENAI_API_KEY or settings.OPENAI_BASE_URL)
