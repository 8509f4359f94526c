"""Which database's life the rows belong to, so that rows from a back-up are known for what they are."""

from django.db import models
from django.db.models import Q
from django.utils import timezone


class Lifeline(models.Model):
    """The one row: `identity` is that of the server and database in whose life all that follows was written."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    identity = models.CharField(max_length=80)
    since = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.CheckConstraint(condition=Q(id=1), name="lifeline_only_one"),)

    def __str__(self) -> str:
        return self.identity
