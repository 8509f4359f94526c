"""One thousand clicks on one card from fifty connections: fault row 8."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx2 as httpx
import psycopg

from assistant.insight.invariants import violations
from assistant.models import Attempt, Decision
from ledger.models import AuditEvent
from tests.assistant.gate.conftest import make_office
from tests.support.signing_in import signed_in

CLICKS, CONNECTIONS = 1_000, 50


def test_a_thousand_confirms_have_one_effect_and_a_thousand_truthful_answers(processes, database_url):
    office = make_office()
    action = office.propose("rename_client", name="Joe")
    with psycopg.connect(database_url, autocommit=True) as watcher:
        others = connections(watcher)
    web = processes.web(AVAL_DATABASE_POOL="8")
    cookies, headers = signed_in(office.dana)
    address = f"{web.url}/c/{office.conversation.pk}/actions/{action.pk}/confirm"
    limits = httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS)
    most = 0
    with httpx.Client(cookies=cookies, headers=headers | {"HX-Request": "true"}, limits=limits, timeout=60) as client:

        def click(_number: int) -> tuple[int, bool]:
            answer = client.post(address, data={"hash": action.digest})
            return answer.status_code, str(action.pk) in answer.text

        with ThreadPoolExecutor(CONNECTIONS) as clickers, psycopg.connect(database_url, autocommit=True) as watcher:
            waiting = [clickers.submit(click, number) for number in range(CLICKS)]
            while not all(future.done() for future in waiting):
                most = max(most, connections(watcher) - others)
            answers = Counter(future.result() for future in waiting)
    assert answers == {(200, True): CLICKS}, "each is the same person's same decision on the same hash"
    assert most <= 8 + 8, "the pool bounds the connections (and the channel layer's few)"
    with office.scope():
        assert Decision.objects.filter(action=action).count() == 1
        kinds = Counter(AuditEvent.objects.filter(subject_id=action.pk).values_list("kind", flat=True))
        assert (kinds["action.confirmed"], kinds["action.confirm_not_taken"]) == (1, CLICKS - 1)
    done = office.execute(action)
    with office.scope():
        assert (done.receipt["text"], Attempt.objects.count()) == ("C-0001 is called Joe now.", 1)
        assert violations() == []


def connections(watcher: psycopg.Connection) -> int:
    """Of every process to this database, the watcher's own included."""
    row = watcher.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()").fetchone()
    return row[0] if row else 0
