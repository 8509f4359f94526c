"""Finding records and writing notes on them."""

from typing import Annotated, Any, Literal

from django.utils.translation import gettext_lazy
from pydantic import Field, StringConstraints

from assistant.tools.fields import Ref
from assistant.tools.registry import Context, ReadResult, ToolArguments, tool
from ledger.actions.notes import add_note
from ledger.actions.records import any_by_ref
from ledger.actions.search import search_records

Kind = Literal["lead", "client", "site", "quote", "invoice", "project", "contract", "appointment", "vendor", "message"]


@tool(label=gettext_lazy("Search"), permission="view_records", effects=())
class SearchRecords:
    """Find leads, clients, sites, quotes, invoices, projects, contracts or vendors by name, ref, phone, e-mail,
    address or amount. Returns refs; `ambiguous:true` means ask the user which one."""

    class Arguments(ToolArguments):
        query: Annotated[str, StringConstraints(min_length=1, max_length=200)]
        types: list[Kind] = Field(default_factory=list)
        limit: Annotated[int, Field(ge=1, le=20)] = 10

    def run(ctx: Context, arguments: Any) -> ReadResult:
        found = search_records(arguments.query, by=ctx.member, types=arguments.types, limit=arguments.limit)
        data: dict[str, Any] = {"hits": [hit.as_json() for hit in found.hits], "ambiguous": found.ambiguous}
        if found.more:
            data["more"] = True
        return ReadResult(data, touched=tuple(hit.ref for hit in found.hits))


@tool(label=gettext_lazy("Add a note"), permission="add_note", effects=())
class AddNote:
    """Attach an internal note to any record. Never visible to clients."""

    class Arguments(ToolArguments):
        record_ref: Ref
        body: Annotated[str, StringConstraints(min_length=1, max_length=4000)]
        pinned: bool = False

    def run(ctx: Context, arguments: Any) -> ReadResult:
        record = any_by_ref(arguments.record_ref)
        note = add_note(record, by=ctx.member, body=arguments.body, pinned=arguments.pinned)
        return ReadResult({"note": note.ref, "record": record.ref, "pinned": note.pinned}, touched=(record.ref,))
