"""A member's passkeys come and go. Whoever calls has just checked the password; nothing here decides anything else."""

import hashlib

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from ledger import audit, permissions, webauthn
from ledger.actions import columns
from ledger.actions.company import change_settings
from ledger.errors import DomainError, NotFound
from ledger.models import Membership, Passkey, SettingsVersion

MOST = 10


def passkeys_of(member: Membership) -> list[Passkey]:
    """The member's keys, oldest first, but for those that were removed."""
    return list(Passkey.objects.filter(member=member, removed_at=None).order_by("added_at", "pk"))


def usable_by(member: Membership) -> list[Passkey]:
    """Those of them that work at this installation's address: it may have moved to another domain since."""
    here = webauthn.site()
    return [key for key in passkeys_of(member) if here is not None and key.site == here.rp_id]


def fingerprint(public_key: str) -> str:
    """SHA-256, in hex, of a public key as it is stored: what the record names it by."""
    return hashlib.sha256(public_key.encode()).hexdigest()


def require_site() -> webauthn.Site:
    """The site; raises NO_PASSKEYS_HERE where the installation's address rules passkeys out."""
    here = webauthn.site()
    if here is None:
        sentence = _("Passkeys need an address with a domain name and https; this installation's has none.")
        raise DomainError("NO_PASSKEYS_HERE", sentence)
    return here


@transaction.atomic
def add_passkey(answer: str, *, name: str, challenge: bytes, by: Membership) -> Passkey:
    """Register the key of a browser's answer to `challenge`.

    Raises PASSKEY_NOT_TAKEN for an answer that does not hold or a key that is known, TOO_MANY, REQUIRED for the name.
    """
    permissions.require(by, "keep_passkeys")
    here = require_site()
    Membership.objects.select_for_update(no_key=True).get(pk=by.pk)
    if len(passkeys_of(by)) >= MOST:
        raise DomainError("TOO_MANY", _("That is enough passkeys; remove one that you no longer use."))
    try:
        key = webauthn.read_new_key(here, answer, challenge=challenge)
        with transaction.atomic():
            made: Passkey = Passkey.objects.create(
                member=by,
                name=columns.line(name, "name", 80, required=True),
                site=here.rp_id,
                credential_id=key.credential_id,
                public_key=key.public_key,
                transports=list(key.transports),
                sign_count=key.sign_count,
            )
    except (webauthn.BadAnswer, IntegrityError) as problem:
        raise DomainError("PASSKEY_NOT_TAKEN", _("That passkey could not be added. Try again.")) from problem
    audit.record(
        "passkey.added",
        by=by,
        subject=made,
        name=made.name,
        credential_id=made.credential_id,
        public_key_sha256=fingerprint(made.public_key),
        site=made.site,
    )
    return made


@transaction.atomic
def remove_passkey(passkey: Passkey, *, by: Membership) -> Passkey:
    """The key counts no longer; what it signed stays on record. A member removes their own; removed once is enough."""
    permissions.require(by, "keep_passkeys")
    held: Passkey | None = Passkey.objects.select_for_update().filter(pk=passkey.pk, member=by).first()
    if held is None:
        raise NotFound(_("There is no such passkey."))
    if held.removed_at is None:
        held.removed_at = timezone.now()
        held.save(update_fields=["removed_at"])
        audit.record("passkey.removed", by=by, subject=held, name=held.name, credential_id=held.credential_id)
    return held


@transaction.atomic
def require_passkeys(on: bool, *, by: Membership) -> SettingsVersion:
    """Whether this company's strong approvals take a passkey. Raises PASSKEY_FIRST for one who has none and would
    stand before the closed door.
    """
    permissions.require(by, "change_settings")
    if on:
        require_site()
        if not usable_by(by):
            raise DomainError("PASSKEY_FIRST", _("Add a passkey of your own first."))
    return change_settings(by=by, changes={"l3_passkey": on})
