"""The approvals inbox over a million actions of one company (bin/bench_records)."""

import os
import random
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import django

django.setup()

import psycopg
from django.test import Client as Browser
from psycopg import sql

from assistant.doors import inbox_frames
from assistant.doors.inbox_frames import Look
from assistant.doors.inbox_lists import Filters, Tab
from assistant.doors.reading import Viewer
from assistant.gate import proposals
from assistant.models import FINAL, Conversation
from assistant.tools import registry
from assistant.tools.registry import Context
from bin.workshop.page_times import Told, kept, measure, settle
from ledger.actions.members import add_member, user_for
from ledger.models import Membership, Role
from tests.cast import Cast, john_smith, lone_ridge

BAR_MS = 50
ADMIN, ROWS = os.environ["AVAL_BENCH_ADMIN"], int(os.environ["AVAL_BENCH_ROWS"])
ACTIONS, DECISIONS, ALERTS = "assistant_pendingaction", "assistant_decision", "assistant_alert"
TABLES = (ACTIONS, DECISIONS)
YEARS = timedelta(days=3 * 365)
ENDS = {"executed": 70, "expired": 12, "rejected": 6, "cancelled": 6, "superseded": 3, "failed": 3}
OPEN = {"pending": 300, "awaiting_second": 60, "scheduled": 40, "executing": 10, "in_doubt": 30}
ASKED = {"dana": 40, "alex": 45, "sam": 15}
SHARED = 0.05
CONVERSATIONS = 500


def main() -> int:
    office = kept(ADMIN, "SELECT tenant_id FROM assistant_pendingaction LIMIT 1") or fill()
    print(f"\ninbox, {ROWS:,} actions of one company, load {os.getloadavg()[0]:.1f}; bar: {BAR_MS} ms")
    over = []
    for name, page in pages(office):
        found = measure(name, page, office.company.pk, TABLES)
        print(found.line(), flush=True)
        if wrong(found):
            over.append(name)
    print(f"  over the bar or reading a whole table: {', '.join(over) or 'none'}")
    return int(bool(over))


def wrong(found: Told) -> bool:
    return found.p50 >= BAR_MS or bool(found.whole)


def pages(office: Cast) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Each tab for four people, the history's filters, a page deep in it, and a read of the stream."""
    browsers = {name: browser(member) for name, member in office.people.items()}
    for tab in Tab:
        path = "/inbox/" if tab == Tab.NEEDS else f"/inbox/{tab}/"
        for name in office.people:
            yield f"{tab}, {name}", partial(get, browsers[name], path)
    people = {name: str(member.pk) for name, member in office.people.items()}
    middle = int((datetime.now(UTC) - YEARS / 2).timestamp() * 1_000_000)
    deep = f"before={middle}~{uuid.UUID(int=0)}"
    for query in (
        "tool=send_quote", "tool=refund_payment", f"who={people['alex']}", f"who={people['kim']}", "days=7", deep,
        "status=failed", "status=executed&tool=delete_lead", f"who={people['sam']}&status=rejected&tool=send_email",
    ):  # fmt: skip
        for name, more in (("sam", "&all=1"), ("alex", "")):
            label = query.partition("=")[0] if query == deep else hide(query, people)
            yield f"history {label}{more}, {name}", partial(get, browsers[name], f"/inbox/history/?{query}{more}")
    yield "history all=1, dana", partial(get, browsers["dana"], "/inbox/history/?all=1")
    for name in ("dana", "alex"):
        look = Look(Tab.NEEDS, Filters())
        yield (
            f"stream, {name}",
            partial(inbox_frames.changes, viewer(office, office[name]), look, {}, datetime.now(UTC)),
        )


def hide(query: str, people: dict[str, str]) -> str:
    for name, pk in people.items():
        query = query.replace(pk, name)
    return query


def get(http: Browser, path: str) -> None:
    answer = http.get(path)
    if answer.status_code != 200:
        raise RuntimeError(f"{path} answered {answer.status_code}")


def browser(member: Membership) -> Browser:
    http = Browser()
    http.force_login(member.user)
    return http


def viewer(office: Cast, member: Membership) -> Viewer:
    return Viewer(member.user.pk, member.pk, office.company.pk, "", "en", "America/Chicago")


def fill() -> Cast:
    """A company with three who ask, and kim, who may decide little and has asked for nothing."""
    office = lone_ridge()
    with office.scope():
        kim = user_for("kim@loneridge.example", language="en")
        office.people["kim"] = add_member(by=office.dana, email=kim.email, name="Kim", role=Role.VIEWER)
        chats = [
            Conversation.objects.create(starter=office[name], title=f"Conversation {number}")
            for number in range(CONVERSATIONS // 3)
            for name in ASKED
        ]
        smith = john_smith(office)
        ctx = Context(member=office.dana, company=office.company, language="en", conversation_id=chats[0].pk)
        text = f'{{"party_ref": "{smith.ref}", "subject": "Friday", "body": "{"We come on Friday. " * 20}"}}'
        proposals.propose(ctx, registry.TOOLS["send_email"], text, conversation_id=chats[0].pk)
    started = time.perf_counter()
    copied(office, chats)
    settle(ADMIN)
    print(f"filled in {time.perf_counter() - started:.0f} s")
    return office


def copied(office: Cast, chats: list[Conversation]) -> None:
    """The rows by COPY, each like the one real card with its own who, what and when."""
    with psycopg.connect(ADMIN) as bare:
        bare.execute("SET session_replication_role = replica")
        columns = [row.name for row in bare.execute("SELECT * FROM assistant_pendingaction").description or ()]
        with bare.cursor().copy("COPY assistant_pendingaction TO STDOUT") as out:
            line = b"".join(out).decode().rstrip("\n").split("\t")
        now = datetime.now(UTC)
        fields = sql.SQL(", ").join(map(sql.Identifier, columns))
        statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(ACTIONS), fields)
        with bare.cursor().copy(statement) as into:
            for row in made(office, chats, now):
                text = [row.get(name, old) for name, old in zip(columns, line, strict=True)]
                into.write(("\t".join(text) + "\n").encode())
        decided = "COPY assistant_decision (id, tenant_id, action_id, slot, verdict, member_id, at, door, address, reason_code, reason, evidence, seconds_shown, shown_hash) FROM STDIN"  # noqa: E501
        with bare.cursor().copy(decided) as into:
            for row in made(office, chats, now):
                if row["status"] in ("executed", "failed", "rejected", "awaiting_second", "in_doubt"):
                    verdict = "reject" if row["status"] == "rejected" else "confirm"
                    into.write_row(decision(row, verdict))
        alerts = "COPY assistant_alert (id, tenant_id, kind, action_id, raised_at, note) FROM STDIN"
        with bare.cursor().copy(alerts) as into:
            for row in made(office, chats, now):
                if row["status"] == "in_doubt":
                    into.write_row([uuid.uuid4(), row["tenant_id"], "in_doubt", row["id"], row["created_at"], ""])


def made(office: Cast, chats: list[Conversation], now: datetime) -> Iterator[dict[str, str]]:
    """What differs from row to row, oldest first, as COPY writes it; the same at each call."""
    chance = random.Random(20261130)  # noqa: S311 (a fixed load, no secret)
    gated = [tool for tool in registry.TOOLS.values() if tool.gated]
    waiting = [status for status, count in OPEN.items() for _ in range(count)]
    ends, asked = list(ENDS), list(ASKED)
    step = YEARS / ROWS
    for number in range(ROWS):
        status = waiting[number - ROWS] if number >= ROWS - len(waiting) else ""
        at = now - YEARS + number * step
        status = status or chance.choices(ends, list(ENDS.values()))[0]
        tool, chat = chance.choice(gated), chance.choice(chats)
        who = office[chance.choices(asked, list(ASKED.values()))[0]]
        second = status == "awaiting_second" or chance.random() < SHARED
        key = (int(at.timestamp() * 1000) << 80) | (7 << 76) | (2 << 62) | chance.getrandbits(60)
        yield {
            "id": str(uuid.UUID(int=key)),
            "tenant_id": str(office.company.pk),
            "conversation_id": str(chat.pk),
            "requester_id": str(who.pk),
            "tool": tool.name,
            "level": str(max(1, int(tool.level))),
            "routed": "t" if second and number % 2 else "f",
            "approvals": "2" if (second and not number % 2) or status == "awaiting_second" else "1",
            "sameness": uuid.UUID(int=chance.getrandbits(128)).hex,
            "status": status,
            "created_at": at.isoformat(),
            "expires_at": (at + timedelta(days=7)).isoformat(),
            "closed_at": (at + timedelta(seconds=chance.random() * 600)).isoformat() if status in FINAL else "\\N",
            "receipt": '{"text": "Sent.", "facts": {}}' if status == "executed" else "\\N",
            "failure": '{"code": "X", "sentence": "Nothing was done."}' if status == "failed" else "\\N",
            "seq": str(number),
        }


def decision(row: dict[str, str], verdict: str) -> list[Any]:
    return [
        uuid.uuid4(), row["tenant_id"], row["id"], 1, verdict, row["requester_id"], row["created_at"], "web", "", "",
        "", "", 4, "0" * 64,
    ]  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
