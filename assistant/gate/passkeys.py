"""A strong yes that a passkey signs: what it signs, whether it holds, and how it is checked again years later.

The challenge is the action's hash and the action's id. The hash binds the signature to what was shown; the id to this
card, since the same request put up twice has the same hash (docs/decisions/0014).
"""

import json
import logging
from dataclasses import asdict, dataclass
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from assistant.models import Decision, PendingAction
from ledger import audit, webauthn
from ledger.actions.passkeys import fingerprint, usable_by
from ledger.company_settings import current_settings
from ledger.errors import DomainError
from ledger.models import AuditEvent, Membership, Passkey

logger = logging.getLogger(__name__)
FORM = 1
"""Of what is kept on a decision; a later form gets a number of its own."""


@dataclass(frozen=True)
class Ways:
    """With what a member can say a strong yes: their passkeys, and whether the company takes nothing else."""

    keys: tuple[Passkey, ...]
    required: bool

    @property
    def signs(self) -> bool:
        return bool(self.keys) or self.required


@dataclass(frozen=True)
class Proof:
    """A signature that holds, as the decision keeps it, and the key that made it, locked."""

    key: Passkey
    kept: dict[str, Any]
    sign_count: int


def ways_of(member: Membership) -> Ways:
    return Ways(tuple(usable_by(member)), current_settings().values.l3_passkey)


def challenge_of(action: PendingAction) -> bytes:
    """What a passkey signs for this card: 32 bytes of the hash that was shown and 16 of the action's id."""
    return bytes.fromhex(action.digest) + action.pk.bytes


def prove(action: PendingAction, answer: str, *, by: Membership) -> Proof:
    """The proof that one of this member's keys signed this card. The key's row is locked until the transaction ends.

    Raises DomainError with a sentence for whoever clicked: PASSKEY_REFUSED; PASSKEY_COPIED where the key's counter
    went back, which says that a copy of it is about.
    """
    try:
        here = webauthn.site()
        if here is None:
            raise webauthn.BadAnswer("passkeys do not work at this address")
        credential_id = webauthn.credential_id_of(answer)
        held = Passkey.objects.select_for_update(no_key=True)
        key = held.filter(member=by, removed_at=None, site=here.rp_id, credential_id=credential_id).first()
        if key is None:
            raise webauthn.BadAnswer("no key of this person")
        signed = webauthn.check(
            here,
            answer,
            challenge=challenge_of(action),
            credential_id=key.credential_id,
            public_key=key.public_key,
        )
    except webauthn.BadAnswer as problem:
        logger.warning("a passkey's answer for action %s was refused: %s", action.pk, problem)
        sentence = _("Your passkey's signature does not hold for this card. Try again.")
        raise DomainError("PASSKEY_REFUSED", sentence) from problem
    if (signed.sign_count or key.sign_count) and signed.sign_count <= key.sign_count:
        audit.record(
            "passkey.count_went_back",
            by=by,
            subject=key,
            name=key.name,
            kept=key.sign_count,
            given=signed.sign_count,
            action=action.pk,
        )
        sentence = _("This passkey seems to have been copied: its counter went back. Remove it and add a new one.")
        raise DomainError("PASSKEY_COPIED", sentence)
    kept = {
        "form": FORM,
        "passkey": str(key.pk),
        "name": key.name,
        "public_key": key.public_key,
        "site": here.rp_id,
        "origin": here.origin,
        **asdict(signed),
    }
    return Proof(key, kept, signed.sign_count)


def used(proof: Proof) -> None:
    """The proof decided something: the key's counter and last use follow."""
    proof.key.sign_count, proof.key.last_used_at = proof.sign_count, timezone.now()
    proof.key.save(update_fields=["sign_count", "last_used_at"])


def problem_of(decision: Decision) -> str:
    """Check again the signature that a decision keeps; "" if it holds, otherwise what does not, in English.

    From the rows alone, whatever has become of the key and of the installation's address since: the signature over
    this action as it was shown, the key as its registration is on record for this person and before this decision,
    and the signature as the record of the decision has it. What was erased from the record proves nothing any more.
    """
    kept, action = decision.assertion, decision.action
    if not kept:
        return "no signature is kept"
    if decision.shown_hash != action.digest:
        return "it was given on something else"
    try:
        webauthn.check(
            webauthn.Site(kept["site"], kept["origin"]),
            webauthn.answer_of(kept),
            challenge=challenge_of(action),
            credential_id=kept["credential_id"],
            public_key=kept["public_key"],
        )
    except (webauthn.BadAnswer, KeyError) as problem:
        return f"the signature does not hold: {problem}"
    if not _was_registered(decision, kept):
        return "the key is not on record as this person's at that time"
    return "" if _is_on_record(decision, kept) else "the record of the decision is of another signature"


def fingerprint_of(kept: dict[str, Any]) -> str:
    """SHA-256, in hex, of what a decision keeps of a passkey: what the record names it by."""
    return fingerprint(audit.canonical(kept))


def _was_registered(decision: Decision, kept: dict[str, Any]) -> bool:
    added = _said("passkey.added", kept["passkey"], decision)
    removed = _said("passkey.removed", kept["passkey"], decision)
    same = [one for one in added if one.get("public_key_sha256") == fingerprint(kept["public_key"])]
    return bool(same) and not removed


def _said(kind: str, subject_id: Any, decision: Decision) -> list[dict[str, Any]]:
    """What the record says of it, by this person, up to the decision; nothing of what was erased from it."""
    rows = AuditEvent.objects.filter(kind=kind, subject_id=subject_id, actor=decision.member_id, at__lte=decision.at)
    return [_detail(event) for event in rows]


def _is_on_record(decision: Decision, kept: dict[str, Any]) -> bool:
    rows = AuditEvent.objects.filter(kind="action.confirmed", subject_id=decision.action_id, actor=decision.member_id)
    wanted = (decision.slot, fingerprint_of(kept))
    return any((said.get("slot"), said.get("passkey")) == wanted for said in map(_detail, rows))


def _detail(event: AuditEvent) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(event.body).get("detail", {})
    return said
