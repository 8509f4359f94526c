"""Back from the trash."""

from typing import Any

from django.utils.translation import gettext_lazy

from assistant.tools.fields import Ref
from assistant.tools.registry import Context, ReadResult, ToolArguments, tool
from ledger.actions.records import any_by_ref
from ledger.actions.trash import restore_record


@tool(label=gettext_lazy("Restore from the trash"), permission="restore_record", effects=())
class RestoreRecord:
    """Bring a record back from the trash within its window."""

    class Arguments(ToolArguments):
        record_ref: Ref

    def run(ctx: Context, arguments: Any) -> ReadResult:
        record = restore_record(any_by_ref(arguments.record_ref, trashed=True), by=ctx.member)
        return ReadResult({"ref": record.ref, "restored": True}, touched=(record.ref,))
