"""How an action makes and changes a business row: by whom, through which door, one version more."""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from django.utils import timezone
from django.utils.translation import gettext as _

from ledger import audit
from ledger.compiled import Compiled, an_id
from ledger.errors import DomainError, NotFound
from ledger.models import BusinessModel, Membership

Row = TypeVar("Row", bound=BusinessModel)
Listener = Callable[[BusinessModel], None]
LISTENERS: list[Listener] = []


def on_write(listener: Listener) -> Listener:
    """Let a function hear of every row that is written, in the transaction that writes it."""
    LISTENERS.append(listener)
    return listener


def made_by(member: Membership | None) -> dict[str, Any]:
    """The columns that say who made a row and through which door."""
    return {"created_by": member, "updated_by": member, "created_via": audit.origin().door}


def locked(row: Row, *, expected_version: int | None = None) -> Row:
    """The row as it stands, held until the transaction ends.

    Held without its key, which never changes: whoever adds a row that refers to it does not have to wait, and so
    cannot wait in a circle (a message's number is taken before its client is referred to). Raises NotFound when it is
    gone or in the trash, and STALE_VERSION (I10) when somebody wrote it since.
    """
    model = type(row)
    held: Row | None = _held(model).first(pk=row.pk)
    if held is None or held.deleted_at is not None:
        raise NotFound(_("There is no such record."))
    if expected_version is not None and held.version != expected_version:
        raise DomainError(
            "STALE_VERSION",
            _("%(ref)s was changed in the meantime. Look at it again.") % {"ref": held.ref},
            ref=held.ref,
            version=held.version,
        )
    return held


@cache
def _held(model: type[Row]) -> Compiled[Row]:
    return Compiled(lambda: model.objects.select_for_update(of=("self",), no_key=True).filter(pk=an_id()))


def write(row: BusinessModel, *, by: Membership | None, **changes: Any) -> None:
    """Set the named columns of a locked row, and raise its version by one."""
    stamps = {"version": row.version + 1, "updated_at": timezone.now(), "updated_by": by}
    for name, value in (changes | stamps).items():
        setattr(row, name, value)
    row.save(update_fields=[*changes, *stamps])
    for listener in LISTENERS:
        listener(row)


def differences(row: BusinessModel, changes: dict[str, Any]) -> dict[str, list[Any]]:
    """Which of the changes would change anything: `{column: [before, after]}`, for the record."""
    return {name: [getattr(row, name), value] for name, value in changes.items() if getattr(row, name) != value}


def trash(row: BusinessModel, *, by: Membership) -> None:
    """Move a locked row to the trash; `restore_record` brings it back for thirty days."""
    write(row, by=by, deleted_at=timezone.now(), deleted_by=by)
