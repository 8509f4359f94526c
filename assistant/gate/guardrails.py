"""Automatic checks of a proposal's own figures: amounts, addresses, and what a day may come to.

They ask nobody: what is beyond a limit is refused with the reason. The day's limits are looked at when the card is put
up and decided at the claim, under the lock of the company's row, so that two workers cannot both take the last of it.
"""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import DateField
from django.utils.translation import gettext as _

from assistant.gate import review
from assistant.gate.outcome import Clock
from assistant.gate.review import Daily, Policy
from assistant.models import LimitUse, PendingAction
from assistant.tools.effects import Effect
from assistant.tools.registry import Prepared, Tool
from ledger import dates, reader
from ledger.compiled import Compiled, Slot
from ledger.errors import DomainError
from ledger.models import Company
from ledger.tenancy import current_tenant

PARTIES = ("client", "lead")
USED = Compiled(
    lambda: LimitUse.objects.filter(day=Slot("day", DateField()), given_back_at=None).values_list(
        "money_in_cents", "money_out_cents", "messages", "parties"
    )
)
COMPANY = Compiled(lambda: Company.objects.select_for_update(no_key=True))


@dataclass(frozen=True)
class Use:
    """What one action, or a whole day, takes of the limits."""

    money_in_cents: int = 0
    money_out_cents: int = 0
    messages: int = 0
    parties: frozenset[str] = frozenset()

    def __add__(self, other: "Use") -> "Use":
        return Use(
            self.money_in_cents + other.money_in_cents,
            self.money_out_cents + other.money_out_cents,
            self.messages + other.messages,
            self.parties | other.parties,
        )


def parties_of(targets: Iterable[dict[str, Any]]) -> frozenset[str]:
    """The ids of the clients and leads among the records of a card."""
    return frozenset(target["id"] for target in targets if target["kind"] in PARTIES)


def use(effects: Iterable[str], amount_cents: int, messages: int, targets: Iterable[dict[str, Any]]) -> Use:
    """What a deed with these effects takes of its day."""
    held = frozenset(effects)
    return Use(
        amount_cents if Effect.MONEY_IN in held else 0,
        amount_cents if Effect.MONEY_OUT in held else 0,
        messages,
        parties_of(targets),
    )


def used(day: date) -> Use:
    """What the claimed actions of the company's day come to."""
    total = Use()
    for money_in, money_out, messages, parties in USED.all(day=day):
        total += Use(money_in, money_out, messages, frozenset(parties))
    return total


def check(made: Tool, prepared: Prepared, policy: Policy, *, currency: str) -> None:
    """Refuse what is over the tool's own ceiling or goes where no mail may go. Raises OVER_CEILING, DOMAIN."""
    most = policy.most_cents.get(made.name)
    if most is not None and prepared.amount_cents > most:
        words = {"most": reader.amount(most, currency)}
        raise DomainError("OVER_CEILING", _("The policy allows at most %(most)s for this.") % words)
    for address in _addresses(prepared.payload):
        if policy.recipient_domains and not _allowed(address, policy.recipient_domains):
            words = {"address": address}
            raise DomainError("DOMAIN", _("The policy does not allow mail to %(address)s.") % words)


def refuse_over_limit(wanted: Use, policy: Policy, company: Company) -> None:
    """Refuse a proposal that the day has no room for any more. Raises OVER_LIMIT."""
    if policy.daily.any and (sentence := _over(wanted, policy.daily, company)):
        raise DomainError("OVER_LIMIT", sentence)


def take(action: PendingAction, company: Company) -> str:
    """Count an action that is being claimed against its day; a sentence, and nothing is counted, where it has no room.

    The policy is read when the company's row is held: a limit that was lowered before is seen (T25).
    """
    wanted = use(action.effects, action.amount_cents, action.messages, action.targets)
    if review.current().policy.daily.any:
        COMPANY.all()
        daily = review.current().policy.daily
        if sentence := _over(wanted, daily, company):
            return sentence
    LimitUse.objects.create(
        action=action,
        day=dates.today(company.timezone),
        money_in_cents=wanted.money_in_cents,
        money_out_cents=wanted.money_out_cents,
        messages=wanted.messages,
        parties=sorted(wanted.parties),
    )
    return ""


def give_back(action_id: uuid.UUID) -> None:
    """The action came to nothing: its day has the room again."""
    LimitUse.objects.filter(tenant_id=current_tenant(), action_id=action_id, given_back_at=None).update(
        given_back_at=Clock()
    )


def _over(wanted: Use, daily: Daily, company: Company) -> str:
    """The sentence about the first limit that the day would pass, or ""."""
    day = used(dates.today(company.timezone))
    total = day + wanted
    money = {"in": daily.money_in_cents, "out": daily.money_out_cents}
    for limit, after, own, sentence in (
        (money["out"], total.money_out_cents, wanted.money_out_cents, _("Today's limit for money out is %(limit)s.")),
        (
            money["in"],
            total.money_in_cents,
            wanted.money_in_cents,
            _("Today's limit for money asked for is %(limit)s."),
        ),
    ):
        if limit is not None and own and after > limit:
            return sentence % {"limit": reader.amount(limit, company.currency)}
    if daily.messages is not None and wanted.messages and total.messages > daily.messages:
        return _("Today's limit for messages is %(limit)s.") % {"limit": daily.messages}
    if daily.parties is not None and wanted.parties - day.parties and len(total.parties) > daily.parties:
        return _("Today's limit for clients and leads is %(limit)s.") % {"limit": daily.parties}
    return ""


def _addresses(payload: dict[str, Any]) -> list[str]:
    return [address for name in ("to", "cc", "bcc") for address in payload.get(name) or () if "@" in address]


def _allowed(address: str, domains: Iterable[str]) -> bool:
    domain = address.rpartition("@")[2].casefold()
    return any(domain == allowed or domain.endswith(f".{allowed}") for allowed in domains)
