"""Whether a person is there: what a strong yes takes beside the click (product.md, Risk; T69).

A signature by the member's passkey or, for whoever has none and may do without, a fresh sign-in; a held button or the
typed amount; a short reason; evidence where it was given.
"""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from assistant.gate import evidence, passkeys, reading
from assistant.gate.clicks import Click
from assistant.gate.passkeys import Proof
from assistant.models import OPEN, PendingAction
from assistant.tools.effects import Level
from ledger.errors import DomainError


@dataclass(frozen=True)
class Presence:
    """`missing` is a sentence about what lacks, or ""; `proof` is what a passkey signed."""

    missing: str = ""
    proof: Proof | None = None


def of(action: PendingAction, click: Click) -> Presence:
    """What of a strong card's yes is there. Nothing is asked of a weaker card, or of one that is not open any more."""
    if action.status not in OPEN or action.level < Level.STRONG:
        return Presence()
    ways = passkeys.ways_of(click.by)
    try:
        _sign_in(click, ways)
        _hand(action, click)
        if not click.reason.strip():
            raise DomainError("NO_REASON", _("Write a short reason."))
        if click.file is not None:
            evidence.check(click.file)
        if not ways.signs:
            return Presence()
        # The action before the key, as everywhere; the same answer sent twice finds the card decided, not a copied key.
        if reading.HELD.one(pk=action.pk).status not in OPEN:
            return Presence()
        return Presence(proof=passkeys.prove(action, click.assertion, by=click.by))
    except DomainError as refused:
        return Presence(refused.sentence)


def _sign_in(click: Click, ways: passkeys.Ways) -> None:
    if not ways.signs:
        if not click.fresh_login:
            sentence = _("Sign in again to confirm this: your last sign-in is more than five minutes ago.")
            raise DomainError("STALE_LOGIN", sentence)
    elif not ways.keys:
        sentence = _("This company confirms strong cards with a passkey only, and you have none.")
        raise DomainError("NO_PASSKEY", sentence)
    elif not click.assertion:
        raise DomainError("NO_SIGNATURE", _("Confirm this with your passkey."))


def _hand(action: PendingAction, click: Click) -> None:
    """A held button or the typed amount; whoever decides alone types."""
    typed = action.preview.get("typed", "")
    if typed and click.typed.strip() == typed:
        return
    if action.alone:
        raise DomainError("NOT_TYPED", _("Type what is asked for exactly as shown."))
    if not click.held:
        raise DomainError("NOT_HELD", _("Hold the button, or type the amount exactly as shown."))
