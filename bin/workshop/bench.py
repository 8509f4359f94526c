"""Measure the product's own share, in one run beside its floor.

    bin/bench                                embedded engines, then with Redis as the channel layer
    AVAL_BENCH_REDIS=redis://… bin/bench     the same on a Redis that runs; else one is started where it is installed

1. Post to first text: 20 turns spread over a second; from the post to the first text on the page's event stream, less
   the model's own first token, which is read from the same endpoint directly at the same pace.
2. Click to receipt: confirm an e-mail (sandbox mail, no undo window) until the receipt is on the stream; beside it the
   same decision as bare SQL.
3. Queries of a turn and of a click, counted.
"""

import asyncio
import json
import os
import re
import statistics
import sys
import tempfile
import time
import uuid
from pathlib import Path

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

import django

django.setup()

import psycopg
from django.db import connection

from assistant.gate import proposals
from assistant.models import Conversation, PendingAction
from assistant.tools import registry
from assistant.tools.registry import Context
from bin.workshop.bench_ground import Product, queries, redis, running
from bin.workshop.plain_http import Browser, lines
from ledger import tenancy
from ledger.actions.company import change_settings
from ledger.models import Membership
from tests.cast import Cast, john_smith, lone_ridge
from tests.database import TestDatabase
from tests.support.signing_in import signed_in

TURNS, CLICKS, ROUNDS = 20, 30, 5
WARM_UP, FIRST_CLICKS = 5, 10
"""Rounds and clicks before anything counts: each connection makes its plans at the third use of a statement."""
QUESTION = "hello"
CHARACTERS = re.compile(r'data-chars="(\d+)"')
"""In a frame of an answer that is being written: how many characters it has."""


def main() -> int:
    database = TestDatabase()
    with tempfile.TemporaryDirectory(prefix="aval-bench-") as folder:
        database.make()
        try:
            with redis(folder) as address:
                layers: list[tuple[str, dict[str, str]]] = [("embedded engines", {})]
                if address:
                    layers.append(("with Redis", {"REDIS_URL": address}))
                for name, engine in layers:
                    with running(folder, engine) as product:
                        print(f"\n{name}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
                        asyncio.run(measure(product))
                if not address:
                    print("\nwith Redis: not measured, for there is no redis-server here")
        finally:
            connection.close()
            database.drop()
    return 0


async def measure(product: Product) -> None:
    office = await asyncio.to_thread(an_office)
    await turns(product, office, rounds=WARM_UP)
    await asyncio.to_thread(look_at_tables)
    before = product.cpu()
    floor, through = await turns(product, office, rounds=ROUNDS)
    spent = {name: 1000 * (seconds - before[name]) / len(through) for name, seconds in product.cpu().items()}
    line("model's own first token (floor)", floor)
    own = [seconds - statistics.median(floor) for seconds in through]
    line("post to first text, over the floor", own, "bar: p50 under 30, p95 under 80")
    alone = await one_by_one(product, office)
    line("the same, one turn at a time", [seconds - statistics.median(floor) for seconds in alone])
    print("  processor time of a turn, ms: " + ", ".join(f"{name} {value:.0f}" for name, value in spent.items()))
    counted = queries(product.counter)
    await one_by_one(product, office, times=1)
    await asyncio.sleep(1)
    print(f"  queries of a turn of one model call: {queries(product.counter) - counted}")
    receipts, queried = await clicks(product.web, office, product.counter)
    line("decision as bare SQL (floor)", await asyncio.to_thread(bare_decisions, office))
    line("click to receipt, sandbox mail", receipts, "bar: p50 under 150")
    print(f"  queries of a click and its execution: {queried}")


def an_office() -> Cast:
    """A company without an undo window, whose budget lasts for the day."""
    office = lone_ridge()
    with office.scope():
        changes = {"undo_seconds": {"send_email": 0}, "daily_token_budget": 10**9}
        change_settings(by=office.dana, changes=changes)
    return office


async def one_by_one(product: Product, office: Cast, times: int = TURNS) -> list[float]:
    found = []
    http = await browser(office.dana)
    for _ in range(times):
        conversation = await asyncio.to_thread(new_conversation, office, office.dana)
        found.append(await one_turn(http, product.web, conversation, 0))
    return found


async def turns(product: Product, office: Cast, *, rounds: int) -> tuple[list[float], list[float]]:
    """First text in seconds: from the endpoint directly, and through the product, in turn."""
    floor: list[float] = []
    through: list[float] = []
    for _ in range(rounds):
        people = [office.dana, office.alex, office.sam]
        browsers = [await browser(member) for member in people]
        direct = [first_token(product.endpoint, number / TURNS) for number in range(TURNS)]
        floor += await asyncio.gather(*direct)
        chats = [await asyncio.to_thread(new_conversation, office, people[number % 3]) for number in range(TURNS)]
        posts = [one_turn(browsers[n % 3], product.web, chat, n / TURNS) for n, chat in enumerate(chats)]
        through += await asyncio.gather(*posts)
    return floor, through


async def browser(member: Membership) -> Browser:
    """A browser of this member's, signed in."""
    return Browser(*await asyncio.to_thread(signed_in, member))


def look_at_tables() -> None:
    """What the server does by itself after its first minute: without it, plans are made for empty tables."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def new_conversation(office: Cast, member: Membership) -> uuid.UUID:
    with office.scope():
        chat: Conversation = Conversation.objects.create(starter=member)
        return chat.pk


async def first_token(endpoint: str, wait: float) -> float:
    await asyncio.sleep(wait)
    body = {"model": "rehearsal", "stream": True, "messages": [{"role": "user", "content": QUESTION}]}
    kind = {"Content-Type": "application/json"}
    started = time.perf_counter()
    async with Browser().opened(f"{endpoint}/chat/completions", json.dumps(body).encode(), **kind) as answer:
        async for row in lines(answer):
            if '"content":"' in row.replace(" ", "") and '"content":""' not in row.replace(" ", ""):
                return time.perf_counter() - started
    raise RuntimeError("the model said nothing")


async def one_turn(http: Browser, web: str, conversation: uuid.UUID, wait: float) -> float:
    """Seconds from the post to the first text on the stream, which is open before."""
    ready, posted = asyncio.Event(), 0.0

    async def listen() -> float:
        async with http.opened(f"{web}/c/{conversation}/events?after=0") as stream:
            ready.set()
            async for row in lines(stream):
                if (at := CHARACTERS.search(row)) and int(at[1]):
                    return time.perf_counter()
        raise RuntimeError("the stream ended")

    listening = asyncio.create_task(listen())
    await ready.wait()
    await asyncio.sleep(0.3 + wait)
    posted = time.perf_counter()
    form = {"text": QUESTION, "key": str(uuid.uuid4())}
    await http.post(f"{web}/c/{conversation}/messages", form, **{"HX-Request": "true"})
    return await asyncio.wait_for(listening, 20) - posted


async def clicks(web: str, office: Cast, counter: Path) -> tuple[list[float], int]:
    """Seconds from the click to the receipt on the stream, one after another; and the queries of the last."""
    found: list[float] = []
    spent = 0
    http = await browser(office.dana)
    for number in range(FIRST_CLICKS + CLICKS):
        action = await asyncio.to_thread(proposed, office, number)
        ready = asyncio.Event()

        async def listen(card: PendingAction = action, ready: asyncio.Event = ready) -> float:
            address = f"{web}/c/{card.conversation_id}/events?after={card.seq}"
            async with http.opened(address) as stream:
                ready.set()
                async for row in lines(stream):
                    if "is-done" in row:
                        return time.perf_counter()
            raise RuntimeError("the stream ended")

        listening = asyncio.create_task(listen())
        await ready.wait()
        await asyncio.sleep(0.2)
        before, clicked = queries(counter), time.perf_counter()
        address = f"{web}/c/{action.conversation_id}/actions/{action.pk}/confirm"
        await http.post(address, {"hash": action.digest}, **{"HX-Request": "true"})
        found.append(await asyncio.wait_for(listening, 20) - clicked)
        spent = queries(counter) - before
    return found[FIRST_CLICKS:], spent


def proposed(office: Cast, number: int) -> PendingAction:
    """A card of an e-mail to a client of the office, with no undo window."""
    with office.scope():
        smith = john_smith(office)
        chat = Conversation.objects.create(starter=office.dana)
        ctx = Context(member=office.dana, company=office.company, language="en", conversation_id=chat.pk)
        text = f'{{"party_ref": "{smith.ref}", "subject": "Friday", "body": "We come on Friday, letter {number}."}}'
        return proposals.propose(ctx, registry.TOOLS["send_email"], text, conversation_id=chat.pk).action


def bare_decisions(office: Cast) -> list[float]:
    """The decision's own statements in one transaction each, by psycopg on one connection."""
    actions = [proposed(office, number + 100) for number in range(CLICKS)]
    found: list[float] = []
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as bare:
        for action in actions:
            started = time.perf_counter()
            with bare.transaction():
                bare.execute("SELECT set_config('app.tenant', %s, true)", [str(office.company.pk)])
                bare.execute(
                    "UPDATE assistant_pendingaction SET status = 'cancelled', closed_at = clock_timestamp()"
                    " WHERE id = %s AND status = 'pending' AND digest = %s AND expires_at > clock_timestamp()",
                    [action.pk, action.digest],
                )
                bare.execute(
                    "INSERT INTO ledger_auditevent (id, tenant_id, kind, at, door, address, subject_kind, body, salt)"
                    " VALUES (%s, %s, 'action.cancelled', now(), 'bench', '', '', '{}', repeat('0', 32))",
                    [tenancy.new_id(), office.company.pk],
                )
            found.append(time.perf_counter() - started)
    return found


def line(what: str, seconds: list[float], bar: str = "") -> None:
    ordered = sorted(value * 1000 for value in seconds)
    p50, p95 = statistics.median(ordered), ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    print(f"  {what:<38} p50 {p50:7.1f} ms   p95 {p95:7.1f} ms   n {len(ordered):<4} {bar}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
