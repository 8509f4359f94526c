"""What a company's agent uses in one of its days, against the budget that its settings give."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db import connection
from django.db.models import DateField, Exists, Subquery

from assistant.gate import policy
from assistant.models import DailyUsage
from ledger import company_settings, dates
from ledger.compiled import Compiled, Slot
from ledger.models import Company
from ledger.tenancy import current_tenant, new_id

ADD = """
    INSERT INTO assistant_dailyusage AS usage (id, tenant_id, day, calls, tokens, cost_micros)
         VALUES (%s, %s, %s, %s, %s, 0)
    ON CONFLICT (tenant_id, day) DO UPDATE
            SET calls = usage.calls + EXCLUDED.calls, tokens = usage.tokens + EXCLUDED.tokens
"""
SPENT: Compiled[Any] = Compiled(
    lambda: company_settings.newest().annotate(
        spent=Subquery(DailyUsage.objects.filter(day=Slot("day", DateField())).values("tokens")[:1]),
        paused=Exists(policy.pauses()),
    )
)
"""The settings in force, what the day has used, and whether the agent is paused."""


@dataclass(frozen=True)
class Standing:
    """Whether the agent is paused, and whether the day's tokens are spent."""

    paused: bool
    used_up: bool


def day_of(company: Company) -> date:
    """The company's day, by its own time zone."""
    return dates.today(company.timezone)


def add(company: Company, *, tokens: int, calls: int = 1) -> None:
    """Count model calls and their tokens. Call it last in a transaction: all turns of the company write this row."""
    with connection.cursor() as cursor:
        cursor.execute(ADD, [new_id(), current_tenant(), day_of(company), calls, tokens])


def standing(company: Company) -> Standing:
    """What is looked at before each model call, in one query."""
    found = SPENT.one(day=day_of(company))
    budget = company_settings.settings_of(found).daily_token_budget
    return Standing(found.paused, (found.spent or 0) >= budget)
