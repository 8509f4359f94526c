"""Notes on records: added, taken away, and following their record."""

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.translation import gettext as _

from ledger import audit, permissions
from ledger.actions import columns, rows
from ledger.errors import DomainError
from ledger.models import BusinessModel, Membership, Note
from ledger.numbering import take_number


def notes_of(*records: BusinessModel) -> QuerySet[Note]:
    """The notes on these records, pinned ones first, then the newest."""
    found: QuerySet[Note] = Note.objects.filter(record_id__in=[record.pk for record in records], deleted_at=None)
    return found.order_by("-pinned", "-created_at", "-id")


@transaction.atomic
def add_note(record: BusinessModel, *, by: Membership, body: str, pinned: bool = False) -> Note:
    """Attach an internal note to a record. It never leaves the company."""
    permissions.require(by, "add_note")
    if record.deleted_at is not None:
        raise DomainError("IN_TRASH", _("%(ref)s is in the trash.") % {"ref": record.ref}, ref=record.ref)
    note = Note.objects.create(
        **rows.made_by(by),
        ref=take_number("note"),
        record_kind=record._meta.model_name or "",
        record_id=record.pk,
        body=columns.block(body, "body", 4000, required=True),
        pinned=pinned,
    )
    audit.record("note.added", by=by, subject=record, ref=record.ref, note=note.ref)
    return note


@transaction.atomic
def delete_note(note: Note, *, by: Membership) -> Note:
    """Move a note to the trash: its writer may, and whoever may empty other people's."""
    if note.created_by_id == by.pk:
        permissions.require(by, "add_note")
    else:
        permissions.require(by, "restore_record")
    held = rows.locked(note)
    rows.trash(held, by=by)
    audit.record("note.deleted", by=by, subject_kind=held.record_kind, subject_id=held.record_id, note=held.ref)
    return held


def carry_notes(*, source: BusinessModel, target: BusinessModel) -> int:
    """Let the notes of one record follow to another, inside the action that turns the one into the other."""
    kind = target._meta.model_name or ""
    found = Note.objects.filter(record_kind=source._meta.model_name, record_id=source.pk)
    return int(found.update(record_kind=kind, record_id=target.pk, version=F("version") + 1))
