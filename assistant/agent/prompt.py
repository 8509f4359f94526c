"""The system prompt: the text of prompts/system.md with the day, the person and the company filled in."""

from datetime import date, timedelta
from functools import cache, lru_cache
from pathlib import Path
from string import Template
from typing import Final

from assistant.agent.history import RECORD
from ledger import dates
from ledger.models import Membership

FOLDER: Final = Path(__file__).parent / "prompts"
DAYS: Final = 14
LANGUAGES: Final = {"en": "English", "pt-br": "Portuguese (Brazil)"}
LEFT_OUT: Final = "\nEarlier messages of this conversation are not shown to you; if you need them, say so.\n"


def system(member: Membership, *, door: str, cut: bool = False) -> str:
    """The prompt for this member now. `cut`: older messages of the conversation were left out."""
    company = member.tenant
    today = dates.today(company.timezone)
    text = _template("system.md").substitute(
        company=company.name,
        country=company.get_country_display(),
        currency=company.currency,
        timezone=company.timezone,
        member=member.name,
        role=member.get_role_display(),
        language=LANGUAGES.get(member.user.language, "English"),
        today=today.isoformat(),
        weekday=f"{today:%A}",
        calendar=calendar(today, company.locale),
        record=RECORD,
        door=door,
    )
    return text + LEFT_OUT if cut else text


@lru_cache(maxsize=64)
def calendar(today: date, locale: str) -> str:
    """What "tomorrow" and "next Friday" mean today: the coming days by name, and the ends of week and month (H12)."""
    rows = []
    for ahead in range(-1, DAYS + 1):
        day = today + timedelta(days=ahead)
        word = {-1: "yesterday", 0: "today", 1: "tomorrow"}.get(ahead, "")
        local = dates.format_date(day, locale, "full")
        rows.append(f"- {day.isoformat()} · {local}{f' · {word}' if word else ''}")
    month_end = dates.month_after(today.replace(day=1), 1) - timedelta(days=1)
    rows.append(f"- end of this month: {month_end.isoformat()} · in 30 days: {today + timedelta(days=30):%Y-%m-%d}")
    return "\n".join(rows)


@cache
def _template(name: str) -> Template:
    return Template((FOLDER / name).read_text(encoding="utf-8"))
