"""How often somebody has knocked at a public page or the sign-in; of no company, since none is known yet."""

from django.db import models


class Knock(models.Model):
    """A count since a moment. `key` is a hash: neither the address nor the page or account can be read from it."""

    key = models.CharField(max_length=64, primary_key=True)
    since = models.DateTimeField()
    count = models.PositiveIntegerField()

    class Meta:
        indexes = (models.Index(fields=["since"], name="knock_since"),)

    def __str__(self) -> str:
        return f"{self.key[:8]} {self.count}"
