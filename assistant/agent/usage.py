"""What a company's agent uses in one of its days, against the budget that its settings give."""

from datetime import date

from django.db import connection
from django.db.models import DateField

from assistant.models import DailyUsage
from ledger import dates
from ledger.company_settings import current_settings
from ledger.compiled import Compiled, Slot
from ledger.models import Company
from ledger.tenancy import current_tenant, new_id

ADD = """
    INSERT INTO assistant_dailyusage AS usage (id, tenant_id, day, calls, tokens, cost_micros)
         VALUES (%s, %s, %s, %s, %s, 0)
    ON CONFLICT (tenant_id, day) DO UPDATE
            SET calls = usage.calls + EXCLUDED.calls, tokens = usage.tokens + EXCLUDED.tokens
"""


SPENT = Compiled(lambda: DailyUsage.objects.filter(day=Slot("day", DateField())).values_list("tokens", flat=True))


def day_of(company: Company) -> date:
    """The company's day, by its own time zone."""
    return dates.today(company.timezone)


def add(company: Company, *, tokens: int, calls: int = 1) -> None:
    """Count model calls and their tokens."""
    with connection.cursor() as cursor:
        cursor.execute(ADD, [new_id(), current_tenant(), day_of(company), calls, tokens])


def used_up(company: Company) -> bool:
    """Whether the day's tokens are spent."""
    spent = SPENT.first(day=day_of(company)) or 0
    return spent >= current_settings().values.daily_token_budget
