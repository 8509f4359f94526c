"""Passkeys: the public halves of keys that a member's devices hold, for strong approvals."""

import pgtrigger
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from ledger.models.audit import NO_TRUNCATE
from ledger.tenancy import TenantForeignKey, TenantModel


class Passkey(TenantModel):
    """One key of one member. `credential_id` and `public_key` (COSE) are base64url; `site` is the domain it works at.

    A removed key stays, since what it signed is checked again with it; it never comes back. The counter of an
    authenticator only grows (WebAuthn level 3, 6.1.1), or is always 0 where the key is kept on several devices.
    """

    member = TenantForeignKey("ledger.Membership", related_name="passkeys")
    name = models.CharField(max_length=80)
    site = models.CharField(max_length=253)
    credential_id = models.CharField(max_length=1400)
    public_key = models.TextField()
    transports = models.JSONField(default=list)
    sign_count = models.PositiveBigIntegerField(default=0)
    added_at = models.DateTimeField(default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(null=True)
    removed_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name, verbose_name_plural = _("passkey"), _("passkeys")
        constraints = (models.UniqueConstraint(fields=["tenant", "credential_id"], name="passkey_credential"),)
        indexes = (models.Index(fields=["member"], condition=models.Q(removed_at=None), name="passkey_of_member"),)
        triggers = (
            pgtrigger.ReadOnly(name="frozen", exclude=["sign_count", "last_used_at", "removed_at"]),
            pgtrigger.Protect(
                name="removed_for_good",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__removed_at__isnull=False),
            ),
            pgtrigger.Protect(
                name="count_only_grows",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(new__sign_count__lt=pgtrigger.F("old__sign_count")),
            ),
            pgtrigger.Protect(name="no_delete", operation=pgtrigger.Delete),
            NO_TRUNCATE,
        )

    def __str__(self) -> str:
        return self.name
