"""Search over all records: names, refs, phones, addresses, amounts."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ledger.actions.search import MOST, search_records
from ledger.views.access import MemberRequest, members_only
from ledger.views.notes import page_of_kind


@require_safe
@members_only
def search(request: MemberRequest) -> HttpResponse:
    """The hits for `q`, best first, each with its page and what is open with its party."""
    words = request.GET.get("q", "")[:200]
    found = search_records(words, by=request.member, limit=MOST) if words.strip() else None
    rows = [{"hit": hit, "url": page_of_kind(hit.kind, hit.ref)} for hit in found.hits] if found else []
    return render(request, "search/list.html", {"q": words, "rows": rows, "found": found})
