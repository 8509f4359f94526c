"""A company's review policy in plain sentences, and what one version says that another does not."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from assistant.doors import wording
from assistant.gate.review import Policy, Rule, Second
from assistant.tools.effects import Level
from ledger import reader
from ledger.models import Client, Lead, Role

LEVELS: dict[int, Promise] = {
    Level.CONFIRM: lazy("Level 1: a card, one press"),
    Level.APPROVE: lazy("Level 2: a card with the full preview"),
    Level.STRONG: lazy("Level 3: held or typed, a fresh sign-in, a reason"),
}
MATCHES: dict[str, Promise] = {
    "exact": lazy("named by its number"),
    "single": lazy("found by a search"),
    "fuzzy": lazy("found among several or by a similar spelling"),
}


@dataclass(frozen=True)
class Words:
    """What the sentences need of the company: its currency, and what the clients and leads of its rules are called."""

    currency: str
    names: Mapping[str, str]

    def amount(self, cents: int) -> str:
        return reader.amount(cents, self.currency)

    def party(self, ref: str) -> str:
        return f"{ref} {self.names[ref]}" if ref in self.names else ref


def words_for(currency: str, *policies: Policy) -> Words:
    """Reads the names of all parties that the policies' rules are about; nothing where they are about none."""
    refs = {rule.counterparty for policy in policies for rule in policy.rules if rule.counterparty}
    names: dict[str, str] = {}
    for model in (Lead, Client):
        names |= dict(model.objects.filter(ref__in=refs).values_list("ref", "name")) if refs else {}
    return Words(currency, names)


def rule(one: Rule, words: Words) -> str:
    """Where it applies, and what it then asks for: "Send quote, from $10,000.00: level 3, two people"."""
    where = [", ".join(wording.tool_label(name) for name in one.tools) or _("Everything that has a card")]
    if one.amount_from_cents is not None:
        where.append(_("from %(amount)s") % {"amount": words.amount(one.amount_from_cents)})
    if one.counterparty:
        where.append(_("for %(who)s") % {"who": words.party(one.counterparty)})
    if one.match:
        where.append(_or(MATCHES[match] for match in one.match))
    if one.outside is not None:
        where.append(_("after reading from outside") if one.outside else _("without reading from outside"))
    if one.roles:
        where.append(_("asked for by %(roles)s") % {"roles": _or(Role(role).label for role in one.roles)})
    if one.doors:
        where.append(_("through %(doors)s") % {"doors": _or(wording.DOORS[door] for door in one.doors)})
    return f"{', '.join(where)}: {asks(one)}"


def asks(one: Rule) -> str:
    """What a rule asks for."""
    if one.refused:
        return _("refused")
    asked = [_("level %(level)s") % {"level": one.level}] if one.level > Level.CONFIRM else []
    if one.people > 1:
        asked.append(_("two people"))
    return ", ".join(asked) or _("nothing more")


def second(one: Second) -> str:
    return _("the backup is called after %(call)s, and nobody has decided after %(end)s") % {
        "call": minutes(one.escalate_minutes),
        "end": minutes(one.expire_minutes),
    }


def minutes(number: int) -> str:
    return ngettext("%(n)s minute", "%(n)s minutes", number) % {"n": number}


def lines(policy: Policy, words: Words) -> list[str]:
    """Everything that the policy says, a sentence each."""
    daily = policy.daily
    money = (
        (_("Money out in a day"), daily.money_out_cents),
        (_("Money asked for in a day"), daily.money_in_cents),
    )
    counts = ((_("Messages in a day"), daily.messages), (_("Clients and leads in a day"), daily.parties))
    limits = [(name, words.amount(limit)) for name, limit in money if limit is not None]
    limits += [(name, str(limit)) for name, limit in counts if limit is not None]
    limits += [(wording.tool_label(tool), words.amount(cents)) for tool, cents in policy.most_cents.items()]
    at_most = _("%(what)s: at most %(limit)s")
    return [
        *(rule(one, words) for one in policy.rules),
        *(at_most % {"what": name, "limit": limit} for name, limit in limits),
        *(_("Mail may go to %(domain)s") % {"domain": domain} for domain in policy.recipient_domains),
        _("Second person: %(times)s") % {"times": second(policy.second)},
        *(
            _("Second person, %(tool)s: %(times)s") % {"tool": wording.tool_label(tool), "times": second(times)}
            for tool, times in policy.second_by_tool.items()
        ),
        _("Time to take it back where one person decides alone: %(time)s")
        % {"time": minutes(round(policy.cooling_off_seconds / 60))},
        _("Share that is looked at afterwards: %(share)s%%") % {"share": policy.review_percent},
    ]


def difference(before: Policy, after: Policy, words: Words) -> tuple[list[str], list[str]]:
    """The sentences that were taken away, and those that came."""
    old, new = lines(before, words), lines(after, words)
    gone, come = Counter(old) - Counter(new), Counter(new) - Counter(old)
    return _kept(old, gone), _kept(new, come)


def _kept(sentences: list[str], wanted: Counter[str]) -> list[str]:
    return [sentence for sentence in dict.fromkeys(sentences) for _n in range(wanted[sentence])]


def _or(names: Iterable[Promise | str]) -> str:
    return _(" or ").join(str(name) for name in names)
