"""To whom a message goes: exactly these addresses, once each, and what a person should know about them (H32, I11)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from ledger import contacts
from ledger.company_settings import current_settings
from ledger.contacts import AddressWarning, email_key, parse_email
from ledger.errors import DomainError
from ledger.models import Channel, Client, ClientMessage, Contact, Lead, Suppression

MOST_TO, MOST_CC = 5, 3
WENT_OUT = (ClientMessage.Status.SENT, ClientMessage.Status.DELIVERED, ClientMessage.Status.READ)


@dataclass(frozen=True)
class Recipient:
    """One address and what is known of it: whether it is on the party's record, changed lately, written to before."""

    address: str
    name: str = ""
    on_record: bool = False
    changed_recently: bool = False
    used_before: bool = False
    warnings: tuple[AddressWarning, ...] = ()


@dataclass(frozen=True)
class Recipients:
    """Each address stands in one place only: To before Cc before the company's own blind copy."""

    to: tuple[Recipient, ...]
    cc: tuple[Recipient, ...] = ()
    bcc: tuple[Recipient, ...] = ()

    @property
    def all(self) -> tuple[Recipient, ...]:
        return (*self.to, *self.cc, *self.bcc)

    @property
    def strangers(self) -> tuple[Recipient, ...]:
        """Those in To and Cc that are not on the party's record."""
        return tuple(recipient for recipient in (*self.to, *self.cc) if not recipient.on_record)


def recipients_for(party: Client | Lead, *, to: str = "", cc: Sequence[str] = (), documents: bool = True) -> Recipients:
    """The addresses of an e-mail to a party: those on record, or `to` (commas between several) in their place.

    Documents go to the contacts that receive them, with copies to those marked for copies; a plain letter goes to
    the main contact alone. The company's own copy comes from its settings. Raises NO_RECIPIENT, EMAIL_INVALID,
    TOO_MANY_RECIPIENTS, RECIPIENT_SUPPRESSED.
    """
    record = _on_record(party)
    to_record, cc_record = _documents_to(party, record) if documents else (_letter_to(party), [])
    wanted = _split(to) or to_record
    copies = [*cc, *([] if _split(to) else cc_record)]
    own_copy = current_settings().values.email_copy_to
    seen: set[str] = set()
    used = _used_before(party)
    own = [own_copy] if own_copy else []
    groups = [
        tuple(_known(address, record, used) for address in _merged(group, seen)) for group in (wanted, copies, own)
    ]
    found = Recipients(*groups)
    if not found.to:
        raise DomainError("NO_RECIPIENT", _("%(name)s has no e-mail address on record.") % {"name": party.name})
    if len(found.to) > MOST_TO or len(found.cc) > MOST_CC:
        sentence = _("At most %(to)s recipients and %(cc)s copies are possible.") % {"to": MOST_TO, "cc": MOST_CC}
        raise DomainError("TOO_MANY_RECIPIENTS", sentence)
    require_reachable(recipient.address for recipient in found.all)
    return found


def require_reachable(addresses: Iterable[str]) -> None:
    """Raise RECIPIENT_SUPPRESSED where one of the addresses bounced, complained or asked not to be written to."""
    keys = [email_key(address) for address in addresses]
    barred = Suppression.objects.filter(channel=Channel.EMAIL, ended_at=None, address__in=keys).first()
    if barred is not None:
        sentence = _("%(address)s is not written to any more: %(cause)s.") % {
            "address": barred.address,
            "cause": barred.get_cause_display(),
        }
        raise DomainError("RECIPIENT_SUPPRESSED", sentence, address=barred.address, cause=barred.cause)


def _on_record(party: Client | Lead) -> dict[str, Contact | Lead]:
    """Every address of the party, by its key."""
    if isinstance(party, Lead):
        return {email_key(party.email): party} if party.email else {}
    return {email_key(contact.email): contact for contact in party.contacts.order_by("-main", "pk") if contact.email}


def _documents_to(party: Client | Lead, record: dict[str, Contact | Lead]) -> tuple[list[str], list[str]]:
    if isinstance(party, Lead):
        return [party.email] if party.email else [], []
    held = [contact for contact in record.values() if isinstance(contact, Contact)]
    to = [contact.email for contact in held if contact.role == Contact.Copies.TO]
    cc = [contact.email for contact in held if contact.role == Contact.Copies.CC]
    return to, cc


def _letter_to(party: Client | Lead) -> list[str]:
    """The main contact's address, or the first there is."""
    if isinstance(party, Lead):
        return [party.email] if party.email else []
    return [contact.email for contact in party.contacts.order_by("-main", "pk") if contact.email][:1]


def _used_before(party: Client | Lead) -> frozenset[str]:
    """The addresses that the last messages to the party went to, by their keys."""
    mine = {"lead": party} if isinstance(party, Lead) else {"client": party}
    sent = ClientMessage.objects.filter(**mine, channel=Channel.EMAIL, status__in=WENT_OUT).order_by("-created_at")
    return frozenset(email_key(address) for to in sent.values_list("to", flat=True)[:50] for address in to)


def _split(text: str) -> list[str]:
    return [part for part in re.split(r"[,;]", text) if part.strip()]


def _merged(addresses: Iterable[str], seen: set[str]) -> list[str]:
    """Each mailbox once, over all the groups: "A@Example.com" is "a@example.com" (H32)."""
    kept = []
    for address in map(parse_email, addresses):
        if email_key(address) not in seen:
            seen.add(email_key(address))
            kept.append(address)
    return kept


def _known(address: str, record: dict[str, Contact | Lead], used: frozenset[str]) -> Recipient:
    """What is known of an address, which is written as the record writes it: one mailbox, one spelling (T87)."""
    held = record.get(email_key(address))
    return Recipient(
        address=held.email if held else address,
        name=held.name if held else "",
        on_record=held is not None,
        changed_recently=isinstance(held, Contact) and held.email_is_fresh,
        used_before=email_key(address) in used,
        warnings=contacts.email_warnings(address),
    )
