"""Notes: what the company writes to itself about a record. They never leave it."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from ledger.models.base import BusinessModel


class Note(BusinessModel):
    """A note on any record, named by its kind (the model's name in lower case) and id."""

    record_kind = models.CharField(max_length=32)
    record_id = models.UUIDField()
    body = models.TextField(_("note"), max_length=4000)
    pinned = models.BooleanField(_("pinned"), default=False)

    class Meta:
        verbose_name, verbose_name_plural = _("note"), _("notes")
        indexes = (
            models.Index(
                fields=["tenant", "record_id", "-pinned", "-created_at"],
                condition=Q(deleted_at=None),
                name="note_of_record",
            ),
        )
        constraints = (models.CheckConstraint(condition=~Q(body=""), name="note_says_something"),)
