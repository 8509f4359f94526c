"""The record: what was done, by whom, from where. Appended, never changed, chained by hash in the database itself.

The one change that an event may see is its erasure: the function `ledger_erase_events` replaces its body by the id of
the deed that erased it, which is an event of the chain itself (ledger/actions/erasing.py, docs/decisions/0013).
"""

import json
import re
import secrets
import uuid
from typing import Any

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
    own_hash := encode(sha256(convert_to(NEW.salt || E'\\n' || NEW.body, 'UTF8')), 'hex');
    core := json_build_array(NEW.tenant_id, NEW.id, NEW.kind,
                             to_char(NEW.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'),
                             NEW.actor_id, NEW.door, NEW.subject_kind, NEW.subject_id)::text;
    UPDATE ledger_chainhead
       SET seq = seq + 1,
           hash = encode(sha256(convert_to(
               E'2\\n' || hash || E'\\n' || core || E'\\n' || own_hash, 'UTF8')), 'hex')
     WHERE tenant_id = NEW.tenant_id
 RETURNING seq, hash INTO link_seq, link_hash;
    INSERT INTO ledger_auditlink (id, tenant_id, seq, event_id, hash, version, body_hash)
         VALUES (NEW.id, NEW.tenant_id, link_seq, NEW.id, link_hash, 2, own_hash);
    RETURN NULL;
"""
ERASED = re.compile(r'\{"erased":"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"\}')
"""The body of an event that was erased: which deed did it, and nothing else."""
ONLY_ERASED = """
    IF TG_OP = 'UPDATE' AND coalesce(current_setting('app.erasing', true), '') <> ''
       AND NEW.body = '{"erased":"' || current_setting('app.erasing', true) || '"}'
       AND NEW.salt = '' AND NEW.address = ''
       AND (NEW.id, NEW.tenant_id, NEW.kind, NEW.at, NEW.door, NEW.subject_kind)
         = (OLD.id, OLD.tenant_id, OLD.kind, OLD.at, OLD.door, OLD.subject_kind)
       AND NEW.actor_id IS NOT DISTINCT FROM OLD.actor_id AND NEW.subject_id IS NOT DISTINCT FROM OLD.subject_id
    THEN RETURN NEW; END IF;
    RAISE EXCEPTION 'pgtrigger: Cannot % rows from % table', lower(TG_OP), TG_TABLE_NAME;
"""


class OnlyErased(pgtrigger.Protect):
    """No row changes or goes, but that the function which erases may replace what an event says by its deed's id.

    It is a Protect without a condition: the role that runs the product gets no right to change the table at all
    (ledger/grants.py), and the function runs as the table's owner.
    """

    def get_func(self, model: Any) -> str:
        return ONLY_ERASED


def new_salt() -> str:
    """128 random bits: without them nobody can tell by trying what an erased body said."""
    return secrets.token_hex(16)


class AuditEvent(TenantModel):
    """One thing that happened. `body` is canonical JSON, `salt` what its hash is made with; the chain covers both, and
    the columns, which repeat the body for queries, by themselves. An erased event has neither body nor address left.

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
    salt = models.CharField(max_length=32, default=new_salt)
    body = models.TextField()

    class Meta:
        verbose_name, verbose_name_plural = _("audit event"), _("audit events")
        indexes = (
            models.Index(fields=["tenant", "-at"], name="audit_recent"),
            models.Index(fields=["tenant", "subject_id", "at"], name="audit_subject"),
            models.Index(fields=["tenant", "kind", "-at", "-id"], name="audit_kind"),
            models.Index(fields=["tenant", "actor", "-at", "-id"], name="audit_actor"),
            models.Index(fields=["tenant", "actor", "kind", "-at", "-id"], name="audit_actor_kind"),
        )
        triggers = (
            OnlyErased(name="no_change", operation=pgtrigger.Update | pgtrigger.Delete),
            NO_TRUNCATE,
            pgtrigger.Trigger(
                name="chain",
                operation=pgtrigger.Insert,
                when=pgtrigger.After,
                timing=pgtrigger.Deferred,
                declare=[("link_seq", "bigint"), ("link_hash", "text"), ("own_hash", "text"), ("core", "text")],
                func=LINK,
            ),
        )

    @property
    def told(self) -> dict[str, Any]:
        """The details that its kind has; none where it was erased."""
        detail = json.loads(self.body).get("detail", {})
        return detail if isinstance(detail, dict) else {}

    @property
    def erased_by(self) -> uuid.UUID | None:
        """The deed that erased it, if one did."""
        found = ERASED.fullmatch(self.body)
        return uuid.UUID(found[1]) if found else None


class AuditLink(TenantModel):
    """The place of an event in its company's chain. What `hash` is made of, `version` says (ledger/chain.py).

    `body_hash` is SHA-256 of the event's salt and body; links of version 1 have none.
    """

    seq = models.PositiveBigIntegerField()
    event = TenantForeignKey(AuditEvent, related_name="+")
    hash = models.CharField(max_length=64)
    version = models.PositiveSmallIntegerField(default=1)
    body_hash = models.CharField(max_length=64, default="")

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


class ChainCheck(TenantModel):
    """The nightly reading of a company's chain: how far it has come, and what the last whole reading found.

    `seq` and `hash` are where the reading that is under way stands; `length`, `bad_seq` and `problem` are the finding
    of `checked_at` (UTC), as in ledger.chain.ChainState.
    """

    seq = models.PositiveBigIntegerField(default=0)
    hash = models.CharField(max_length=64, default="0" * 64)
    length = models.PositiveBigIntegerField(default=0)
    bad_seq = models.PositiveBigIntegerField(null=True)
    problem = models.CharField(max_length=12, blank=True, default="")
    checked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["tenant"], name="chaincheck_one"),)
