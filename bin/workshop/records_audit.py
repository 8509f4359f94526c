"""The record over a million events of one company, their chain made beforehand (bin/bench_records).

Beside the pages: how long the nightly reading and an export take, and what memory the export needs.
"""

import json
import os
import random
import resource
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import django

django.setup()

import psycopg
from django.test import Client as Browser

from bin.workshop.page_times import kept, measure, settle
from ledger import chain
from ledger.models import AuditEvent, ChainHead
from ledger.record import export, verify
from tests.cast import Cast, john_smith, lone_ridge

BAR_MS = 50
ADMIN, ROWS = os.environ["AVAL_BENCH_ADMIN"], int(os.environ["AVAL_BENCH_ROWS"])
TABLES = ("ledger_auditevent", "ledger_auditlink")
MARK = "bench.filled"
YEARS = timedelta(days=3 * 365)
KINDS = {
    "action.proposed": 14, "action.seen": 14, "action.confirmed": 11, "action.started": 10, "action.executed": 10,
    "action.expired": 3, "turn.stopped": 1, "client.updated": 6, "quote.lines_edited": 12, "quote.sent": 4,
    "invoice.issued": 3, "payment.recorded": 3, "message.sent": 5, "note.added": 3, "audit.verified": 1,
}  # fmt: skip
WHO = {"dana": 45, "alex": 40, "": 15}


def main() -> int:
    office = kept(ADMIN, "SELECT tenant_id FROM ledger_auditevent WHERE kind = %s LIMIT 1", MARK) or fill()
    print(f"\nrecord, {ROWS:,} events of one company, load {os.getloadavg()[0]:.1f}; bar: {BAR_MS} ms")
    over = []
    for name, page in pages(office):
        found = measure(name, page, office.company.pk, TABLES)
        print(found.line(), flush=True)
        if found.p50 >= BAR_MS or found.whole:
            over.append(name)
    print(f"  over the bar or reading a whole table: {', '.join(over) or 'none'}")
    whole = whole_reading(office)
    return int(bool(over) or not whole)


def pages(office: Cast) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Each filter by itself, the pairs that fit few or none, a page deep in the past, the last page of all."""
    http = Browser()
    http.force_login(office.dana.user)
    who = {name: str(member.pk) for name, member in office.people.items()}
    past = datetime.now(UTC) - YEARS / 2
    micros = int(past.timestamp() * 1_000_000)
    for label, query in {
        "all": "",
        "deep": f"after={micros}~{uuid.UUID(int=0)}",
        "noun": "kind=action",
        "rare noun": "kind=turn",
        "noun of nothing": "kind=lead",
        "kind": "kind=action.executed",
        "who": f"who={who['alex']}",
        "who did nothing": f"who={who['sam']}",
        "who and noun": f"who={who['alex']}&kind=action",
        "who and a kind that they never did": f"who={who['alex']}&kind=member.added",
        "days": f"first={past:%Y-%m-%d}&last={past + timedelta(days=2):%Y-%m-%d}",
        "days without an event": "first=1999-01-01&last=1999-12-31",
        "who, noun, days long ago": f"who={who['dana']}&kind=quote&last={past:%Y-%m-%d}",
        "noun, deep": f"kind=action&after={micros}~{uuid.UUID(int=0)}",
        "subject": "subject=C-0001",
        "subject and noun": "subject=C-0001&kind=quote",
    }.items():
        yield label, partial(get, http, f"/audit/?{query}")


def get(http: Browser, path: str) -> None:
    answer = http.get(path)
    if answer.status_code != 200:
        raise RuntimeError(f"{path} answered {answer.status_code}")


def whole_reading(office: Cast) -> bool:
    """The chain from its first link to its head, and an export that verifies itself."""
    started = time.perf_counter()
    with office.scope():
        state = chain.verify()
    print(f"  chain of {state.length:,} links read in {time.perf_counter() - started:.1f} s, whole: {state.whole}")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with TemporaryDirectory() as folder, (Path(folder) / "record.zip").open("wb") as file:
        started = time.perf_counter()
        with office.scope():
            begun = export.begin(office.company, by=office.dana)
        size = sum(file.write(piece) for piece in export.pieces(begun))
        file.flush()
        more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        taken = time.perf_counter() - started
        print(f"  exported in {taken:.1f} s, {size / 1e6:.0f} MB, with {more / 1024:.0f} MB of memory")
        started = time.perf_counter()
        code = verify.verify(file.name, None, lambda line: print(f"    {line}"))
        print(f"  the export verified itself in {time.perf_counter() - started:.1f} s")
    return state.whole and code == 0


def fill() -> Cast:
    office = lone_ridge()
    with office.scope():
        client = john_smith(office).pk
    with office.scope():
        head = ChainHead.objects.get()
    started = time.perf_counter()
    copied(office, client, head)
    settle(ADMIN)
    print(f"filled in {time.perf_counter() - started:.0f} s")
    return office


def copied(office: Cast, client: uuid.UUID, head: ChainHead) -> None:
    """Events, their links and the new head by COPY, past the triggers that would have made them one by one."""
    with psycopg.connect(ADMIN) as bare, TemporaryDirectory() as folder:
        bare.execute("SET session_replication_role = replica")
        path, top = Path(folder) / "links", chain.Place(head.seq, head.hash)
        columns = "id, tenant_id, kind, at, actor_id, door, address, subject_kind, subject_id, salt, body"
        into_events = f"COPY ledger_auditevent ({columns}) FROM STDIN"
        with path.open("w", encoding="utf-8") as links, bare.cursor().copy(into_events) as into:
            for event in made(office, client):
                row = linked(event, top, office.company.pk)
                top = chain.Place(row.seq, row.hash)
                into.write_row(
                    [row.id, office.company.pk, row.kind, row.at, row.actor, row.door, row.address, row.subject_kind,
                     row.subject, row.salt, row.body]
                )  # fmt: skip
                links.write(f"{row.id}\t{office.company.pk}\t{row.seq}\t{row.id}\t{row.hash}\t2\t{row.body_hash}\n")
        into_links = "COPY ledger_auditlink (id, tenant_id, seq, event_id, hash, version, body_hash) FROM STDIN"
        with path.open("rb") as links_read, bare.cursor().copy(into_links) as into:
            while block := links_read.read(1 << 20):
                into.write(block)
        ends = "UPDATE ledger_chainhead SET seq = %s, hash = %s WHERE tenant_id = %s"
        bare.execute(ends, [top.seq, top.hash, office.company.pk])


def linked(event: AuditEvent, top: chain.Place, tenant_id: uuid.UUID) -> chain.Row:
    """The event with its place behind the last link, as the database would have made it."""
    row = chain.Row(
        top.seq + 1, 2, "", chain.digest(event.salt, event.body), event.pk, event.kind, event.at, event.actor_id,
        event.door, event.address, event.subject_kind, event.subject_id, event.salt, event.body,
    )  # fmt: skip
    return row._replace(hash=chain.link(top.hash, row, tenant_id))


def made(office: Cast, client: uuid.UUID) -> Iterator[AuditEvent]:
    """Events of three years, oldest first; the last is the mark that they are all there."""
    chance = random.Random(20261130)  # noqa: S311 (a fixed load, no secret)
    kinds, weights = list(KINDS), list(KINDS.values())
    names, shares = list(WHO), list(WHO.values())
    now, step = datetime.now(UTC), YEARS / ROWS
    words = "the roof on Cedar Bend, in two visits, weather permitting " * 4
    for number in range(ROWS):
        at = now - YEARS + number * step
        actor = chance.choices(names, shares)[0]
        key = uuid.UUID(int=(int(at.timestamp() * 1000) << 80) | (7 << 76) | (2 << 62) | chance.getrandbits(60))
        subject = client if number % 20_000 == 0 else uuid.UUID(int=chance.getrandbits(128))
        kind = MARK if number == ROWS - 1 else chance.choices(kinds, weights)[0]
        event = AuditEvent(
            id=key, tenant_id=office.company.pk, kind=kind, at=at, actor_id=office[actor].pk if actor else None,
            door="web" if actor else "system", address="192.0.2.7" if actor else "", subject_kind="client",
            subject_id=subject, salt=f"{chance.getrandbits(128):032x}",
        )  # fmt: skip
        event.body = body(event, actor, {"number": number, "text": words})
        yield event


def body(event: AuditEvent, actor: str, detail: dict[str, Any]) -> str:
    """As ledger.audit.record writes it."""
    told = {
        "id": str(event.pk), "kind": event.kind, "at": event.at.isoformat(),
        "actor": str(event.actor_id) if event.actor_id else None, "actor_name": actor.title() or None,
        "door": event.door, "address": event.address, "subject_kind": event.subject_kind,
        "subject_id": str(event.subject_id), "detail": detail,
    }  # fmt: skip
    return json.dumps(told, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


if __name__ == "__main__":
    sys.exit(main())
