"""Back from the trash, within thirty days."""

from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from ledger import audit, permissions
from ledger.actions import rows
from ledger.actions.records import RECORDS
from ledger.errors import DomainError, NotFound
from ledger.models import BusinessModel, Membership

KEPT = timedelta(days=30)
MOST_EACH = 50


def in_trash() -> list[BusinessModel]:
    """What may still come back, the last deleted first; at most fifty of a kind, one query for each kind."""
    since = timezone.now() - KEPT
    found = [
        row
        for model in RECORDS.values()
        for row in model.objects.filter(deleted_at__gt=since)
        .select_related("deleted_by")
        .order_by("-deleted_at")[:MOST_EACH]
    ]
    return sorted(found, key=lambda row: row.deleted_at or since, reverse=True)


@transaction.atomic
def restore_record(record: BusinessModel, *, by: Membership) -> BusinessModel:
    """Take a record out of the trash.

    Raises NotFound when it is not there or its thirty days are over, CONFLICT when something that must be unique
    (a tax id, a code) has been given to another record since.
    """
    permissions.require(by, "restore_record")
    held = type(record).objects.select_for_update(of=("self",)).filter(pk=record.pk).first()
    if held is None or held.deleted_at is None or timezone.now() - held.deleted_at > KEPT:
        raise NotFound(_("There is no such record in the trash."))
    try:
        with transaction.atomic():
            rows.write(held, by=by, deleted_at=None, deleted_by=None)
    except IntegrityError as conflict:
        sentence = _("%(ref)s cannot come back: another record has taken its place.") % {"ref": held.ref}
        raise DomainError("CONFLICT", sentence, ref=held.ref) from conflict
    audit.record("record.restored", by=by, subject=held, ref=held.ref)
    return held
