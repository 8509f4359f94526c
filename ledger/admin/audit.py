"""The audit chain: its events, and whether it stands."""

import json
import uuid
from typing import Any

from django.contrib import admin, messages
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from ledger import audit, nightly, operators, record_words
from ledger.admin.company import readable
from ledger.admin.reading import ReadingAdmin, column, register, told
from ledger.admin_site import site
from ledger.models import AuditEvent, AuditLink, ChainHead, Via


def door_of(event: AuditEvent) -> str:
    return str(Via(event.door).label) if event.door in Via.values else event.door


class AboutFilter(admin.SimpleListFilter):
    """Events by what they are about (ledger/record_words.py)."""

    title = lazy("About")
    parameter_name = "about"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return list(record_words.NOUNS.items())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        kinds = record_words.kinds_of(self.value() or "")
        return queryset.filter(kind__in=kinds) if kinds else queryset


class DoorFilter(admin.SimpleListFilter):
    title = lazy("Door")
    parameter_name = "door"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return [(door, door.label) for door in Via]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(door=self.value()) if self.value() else queryset


@register(AuditEvent)
class AuditEventAdmin(ReadingAdmin):
    """Newest first; a search takes a kind ("quote.sent", or its beginning) or the id of the subject or the event."""

    section = "record"
    list_display = (
        column("seq", lazy("No.")),
        column("at", lazy("When")),
        column("kind", lazy("What")),
        column("actor", lazy("Who")),
        told(lazy("Door"), door_of, "door"),
        column("address", lazy("From where")),
        column("subject_kind", lazy("Kind of subject")),
        column("subject_id", lazy("Subject")),
    )
    list_filter = (AboutFilter, DoorFilter)
    list_select_related = ("actor",)
    search_fields = ("kind",)
    search_help_text = lazy("A kind of event or its beginning, or the id of an event or of what it is about.")
    ordering = ("-at", "-id")
    sortable_by = ("at",)
    date_hierarchy = "at"
    rows = (
        column("seq", lazy("No.")),
        column("id", lazy("Id")),
        column("at", lazy("When")),
        column("kind", lazy("What")),
        column("actor", lazy("Who")),
        told(lazy("Door"), door_of, "door"),
        column("address", lazy("From where")),
        column("subject_kind", lazy("Kind of subject")),
        column("subject_id", lazy("Subject")),
        told(lazy("What the chain covers"), lambda event: readable(json.loads(event.body)), "body"),
        column("link_hash", lazy("Hash of its link")),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEvent]:
        """With the number and the hash of each event's link."""
        link = AuditLink.objects.filter(event=OuterRef("pk"))
        return (
            super()
            .get_queryset(request)
            .annotate(seq=Subquery(link.values("seq")[:1]), link_hash=Subquery(link.values("hash")[:1]))
        )

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        term = search_term.strip()
        try:
            wanted = uuid.UUID(term)
        except ValueError:
            return (queryset.filter(kind__startswith=term) if term else queryset), False
        return queryset.filter(Q(pk=wanted) | Q(subject_id=wanted)), False

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """An event has no history."""
        found = self.get_object(request, object_id)
        return redirect("admin:ledger_auditevent_change", found.pk)


@site.page("chain/", name="chain", section="record", label=lazy("State of the chain"))
@require_http_methods(["GET", "HEAD", "POST"])
def chain(request: Any) -> HttpResponse:
    """How long the chain is and where it stands; POST reads it from its first link and puts the finding on record."""
    if request.method == "POST":
        state = audit.verify()
        nightly.conclude(state, operator=operators.named(request.user))
        level = messages.SUCCESS if state.whole else messages.ERROR
        messages.add_message(request, level, finding(state))
        return redirect("admin:chain")
    last = AuditEvent.objects.filter(kind="audit.verified").order_by("-at", "-id").first()
    context = {
        **site.each_context(request),
        "title": _("State of the audit chain"),
        "head": ChainHead.objects.first(),
        "last": last,
        **_of_last(last),
    }
    return TemplateResponse(request, "admin/chain.html", context)


def finding(state: audit.ChainState) -> str:
    """What a verification found, in one sentence."""
    if state.whole:
        whole = ngettext(
            "The chain is whole: %(length)d link, as it was made.",
            "The chain is whole: %(length)d links, each as it was made.",
            state.length,
        )
        return whole % {"length": state.length}
    words = {"seq": state.bad_seq, "problem": record_words.problem(state.problem)}
    return _("The chain breaks at link %(seq)s: %(problem)s.") % words


def _of_last(last: AuditEvent | None) -> dict[str, Any]:
    if last is None:
        return {}
    told_then = last.told
    state = audit.ChainState(told_then["length"], told_then["bad_seq"], told_then["problem"])
    operator = told_then.get("operator") or {"email": _("the nightly check")}
    return {"finding": finding(state), "whole": state.whole, "operator": operator["email"]}
