"""A company's own review policy, as data: what more than the built-in levels it asks of a proposal.

    {"rules": [{"tools": ["send_quote"], "amount_from_cents": 1000000, "level": 3, "people": 2},
               {"match": ["fuzzy"], "level": 2},
               {"tools": ["refund_payment"], "roles": ["office"], "refused": true}],
     "daily": {"money_out_cents": 200000, "messages": 100},
     "most_cents": {"refund_payment": 100000}, "recipient_domains": [], "second": {…}, "cooling_off_seconds": 600}

A rule applies where all that it names fits; of the rules that apply, the strictest counts, so that a rule only ever
raises. A policy that does not parse, or names a tool or a word that is not known, is refused; should such a one stand
in the table all the same, the last good one counts and the page says so (T32).
"""

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Literal

from django.db import transaction
from django.utils.translation import gettext as _
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from assistant.models import ReviewPolicy
from assistant.tools import registry
from assistant.tools.effects import Level
from ledger import audit, permissions
from ledger.compiled import Compiled
from ledger.errors import DomainError
from ledger.models import Company, Membership
from ledger.tenancy import current_tenant

LONGEST = 20_000
LOOKED_BACK = 20
"""Versions that are tried, newest first, before the built-in rules stand alone."""

Match = Literal["exact", "single", "fuzzy"]
Cents = Annotated[int, Field(ge=0, le=10**13)]
DOMAIN = re.compile(r"(?!-)[a-z0-9-]{1,63}(\.(?!-)[a-z0-9-]{1,63})+")


def _gated(name: str) -> str:
    made = registry.get(name)
    if made is None or not made.gated:
        raise ValueError(f"no tool with a card is called {name}")
    return name


def _domain(text: str) -> str:
    if not DOMAIN.fullmatch(text):
        raise ValueError(f"{text} is no domain")
    return text


GatedTool = Annotated[str, AfterValidator(_gated)]


class Part(BaseModel):
    """Known words only, no coercion."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Rule(Part):
    """Where it applies (what is left out fits everything) and what it then asks for at the least."""

    tools: tuple[GatedTool, ...] = ()
    roles: tuple[Literal["owner", "admin", "office", "sales", "crew", "accountant", "viewer"], ...] = ()
    doors: tuple[Literal["web", "agent", "mcp", "api", "whatsapp"], ...] = ()
    counterparty: Annotated[str, Field(max_length=24)] = ""
    amount_from_cents: Cents | None = None
    match: tuple[Match, ...] = ()
    outside: bool | None = None
    level: Annotated[int, Field(ge=1, le=3)] = 1
    people: Annotated[int, Field(ge=1, le=2)] = 1
    refused: bool = False

    def fits(self, case: "Case") -> bool:
        return (
            (not self.tools or case.tool in self.tools)
            and (not self.roles or case.role in self.roles)
            and (not self.doors or case.door in self.doors)
            and (not self.counterparty or self.counterparty in case.parties)
            and (self.amount_from_cents is None or case.amount_cents >= self.amount_from_cents)
            and (not self.match or case.match in self.match)
            and (self.outside is None or case.outside == self.outside)
        )


class Daily(Part):
    """What all confirmed actions of one of the company's days may come to; None: no limit."""

    money_in_cents: Cents | None = None
    money_out_cents: Cents | None = None
    messages: Annotated[int, Field(ge=0, le=10**6)] | None = None
    parties: Annotated[int, Field(ge=0, le=10**6)] | None = None

    @property
    def any(self) -> bool:
        return any(limit is not None for limit in self.__dict__.values())


class Second(Part):
    """How long a second person is waited for: then the backup is called, then nobody has decided. Minutes.

    `backup` is the ref of the member who is called (U-03); "" calls everybody who may decide it.
    """

    escalate_minutes: Annotated[int, Field(ge=1, le=7 * 1440)] = 30
    expire_minutes: Annotated[int, Field(ge=2, le=7 * 1440)] = 60
    backup: Annotated[str, Field(max_length=24)] = ""


class Policy(Part):
    """A whole review policy; every part has its default.

    `most_cents` is the highest amount of one action of a tool; `recipient_domains`, where there are any, the only
    ones that mail may go to; `second_by_tool` over `second`; `cooling_off_seconds` the undo window of a strong deed
    in a company with one approver; `review_percent` the share of deeds that are looked at afterwards.
    """

    rules: tuple[Rule, ...] = Field(default=(), max_length=100)
    daily: Daily = Daily()
    most_cents: dict[GatedTool, Cents] = {}
    recipient_domains: tuple[Annotated[str, AfterValidator(_domain)], ...] = ()
    second: Second = Second()
    second_by_tool: dict[GatedTool, Second] = {}
    cooling_off_seconds: Annotated[int, Field(ge=60, le=86400)] = 600
    review_percent: Annotated[int, Field(ge=0, le=100)] = 5

    def second_for(self, tool: str) -> Second:
        return self.second_by_tool.get(tool, self.second)


@dataclass(frozen=True)
class Case:
    """What a policy judges a proposal by. Nothing of it comes from what the model says of itself."""

    tool: str
    role: str
    door: str
    parties: frozenset[str] = frozenset()
    amount_cents: int = 0
    match: str = "exact"
    outside: bool = False


@dataclass(frozen=True)
class Asked:
    """The strictest of all rules that apply."""

    level: Level = Level.CONFIRM
    people: int = 1
    refused: bool = False


@dataclass(frozen=True)
class Current:
    """The policy that counts, its number (0: the built-in one), and the newer ones that cannot be read."""

    policy: Policy
    number: int = 0
    bad: tuple[tuple[int, str], ...] = ()


BUILT_IN = Policy()
NEWEST = Compiled(lambda: ReviewPolicy.objects.order_by("-number").values_list("number", "text")[:LOOKED_BACK])


def current() -> Current:
    """The policy of the company in scope: the newest that can be read."""
    bad: list[tuple[int, str]] = []
    for number, text in NEWEST.all():
        try:
            return Current(_read(text), number, tuple(bad))
        except DomainError as error:
            bad.append((number, error.sentence))
    return Current(BUILT_IN, 0, tuple(bad))


def asked(policy: Policy, case: Case) -> Asked:
    """What the rules that fit ask for, all together."""
    found = [rule for rule in policy.rules if rule.fits(case)]
    return Asked(
        level=Level(max((rule.level for rule in found), default=1)),
        people=max((rule.people for rule in found), default=1),
        refused=any(rule.refused for rule in found),
    )


def read(text: str) -> Policy:
    """The policy that a text says. Raises DomainError INVALID_POLICY with what is wrong, by its place in the text."""
    try:
        return _read(text)
    except RecursionError:
        raise _invalid("", "nested too deep") from None


@lru_cache(maxsize=256)
def _read(text: str) -> Policy:
    if len(text) > LONGEST:
        raise _invalid("", "too long")
    try:
        found = Policy.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        raise _invalid(".".join(str(part) for part in first["loc"]), first["msg"]) from None
    for wait in (found.second, *found.second_by_tool.values()):
        if wait.escalate_minutes >= wait.expire_minutes:
            raise _invalid("second.expire_minutes", "the backup is called before the time is over")
    return found


def _invalid(where: str, what: str) -> DomainError:
    sentence = _("This policy cannot be read at “%(where)s”: %(what)s.") % {"where": where or "policy", "what": what}
    return DomainError("INVALID_POLICY", sentence, field=where)


@transaction.atomic
def change(*, by: Membership, text: str, expected: int) -> ReviewPolicy:
    """Put a new version of the policy in force, in place of the one numbered `expected`.

    Raises INVALID_POLICY (the last one stays), CHANGED_MEANWHILE, NotAllowed. The company's row is locked: a claim
    that counts against a limit comes before the new limit or sees it.
    """
    permissions.require(by, "change_settings")
    policy = read(text)
    Company.objects.select_for_update(no_key=True).get(pk=current_tenant())
    newest = ReviewPolicy.objects.order_by("-number").values_list("number", flat=True).first() or 0
    if newest != expected:
        raise DomainError("CHANGED_MEANWHILE", _("Somebody changed this meanwhile; look again."))
    before = current().policy
    stored: ReviewPolicy = ReviewPolicy.objects.create(number=newest + 1, text=as_text(policy), created_by=by)
    audit.record(
        "review_policy.changed",
        by=by,
        subject=stored,
        number=stored.number,
        before=as_text(before),
        after=stored.text,
    )
    return stored


def as_text(policy: Policy) -> str:
    """The policy as it is stored and shown: what is left at its default is left out."""
    return json.dumps(policy.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False, indent=2)
