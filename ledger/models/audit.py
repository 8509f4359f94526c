"""The record: what was done, by whom, from where. Appended, never changed, chained by hash in the database itself."""

import pgtrigger
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from ledger.tenancy import TenantForeignKey, TenantModel

NO_TRUNCATE = pgtrigger.Trigger(
    name="no_truncate",
    operation=pgtrigger.Truncate,
    level=pgtrigger.Statement,
    when=pgtrigger.Before,
    func="RAISE EXCEPTION 'pgtrigger: Cannot truncate rows from % table', TG_TABLE_NAME;",
)
APPEND_ONLY = (
    pgtrigger.Protect(name="no_change", operation=pgtrigger.Update | pgtrigger.Delete),
    NO_TRUNCATE,
)

LINK = """
    PERFORM set_config('app.tenant', NEW.tenant_id::text, true);
    INSERT INTO ledger_chainhead (id, tenant_id, seq, hash)
         VALUES (NEW.tenant_id, NEW.tenant_id, 0, repeat('0', 64))
    ON CONFLICT (tenant_id) DO NOTHING;
    UPDATE ledger_chainhead
       SET seq = seq + 1, hash = encode(sha256(convert_to(hash || E'\\n' || NEW.body, 'UTF8')), 'hex')
     WHERE tenant_id = NEW.tenant_id
 RETURNING seq, hash INTO link_seq, link_hash;
    INSERT INTO ledger_auditlink (id, tenant_id, seq, event_id, hash)
         VALUES (NEW.id, NEW.tenant_id, link_seq, NEW.id, link_hash);
    RETURN NULL;
"""


class AuditEvent(TenantModel):
    """One thing that happened. `body` is the canonical JSON that the chain covers; the columns repeat it for queries.

    The link to the event before it is written by a deferred trigger, as the last statement before the commit: the
    head of the chain is locked for no longer than that, and no code path can forget it.
    """

    kind = models.CharField(max_length=60)
    at = models.DateTimeField(default=timezone.now)
    actor = TenantForeignKey("ledger.Membership", null=True, related_name="+")
    door = models.CharField(max_length=12)
    address = models.CharField(max_length=64, blank=True, default="")
    subject_kind = models.CharField(max_length=32, blank=True, default="")
    subject_id = models.UUIDField(null=True)
    body = models.TextField()

    class Meta:
        verbose_name, verbose_name_plural = _("audit event"), _("audit events")
        indexes = (
            models.Index(fields=["tenant", "-at"], name="audit_recent"),
            models.Index(fields=["tenant", "subject_id", "at"], name="audit_subject"),
        )
        triggers = (
            *APPEND_ONLY,
            pgtrigger.Trigger(
                name="chain",
                operation=pgtrigger.Insert,
                when=pgtrigger.After,
                timing=pgtrigger.Deferred,
                declare=[("link_seq", "bigint"), ("link_hash", "text")],
                func=LINK,
            ),
        )


class AuditLink(TenantModel):
    """The place of an event in its company's chain: `hash` is SHA-256 of the hash before, a line feed and the body."""

    seq = models.PositiveBigIntegerField()
    event = TenantForeignKey(AuditEvent, related_name="+")
    hash = models.CharField(max_length=64)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["tenant", "seq"], name="audit_seq"),
            models.UniqueConstraint(fields=["tenant", "event"], name="audit_event_once"),
        )
        triggers = APPEND_ONLY


class ChainHead(TenantModel):
    """Where a company's chain stands: never goes back, never goes away."""

    seq = models.PositiveBigIntegerField()
    hash = models.CharField(max_length=64)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["tenant"], name="chain_one_head"),)
        triggers = (
            pgtrigger.Protect(name="no_delete", operation=pgtrigger.Delete),
            NO_TRUNCATE,
            pgtrigger.Protect(
                name="only_forward",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition("NEW.seq <> OLD.seq + 1 OR NEW.tenant_id <> OLD.tenant_id"),
            ),
        )
