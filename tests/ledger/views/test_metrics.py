"""`/metrics`: counts of the whole installation, for whoever holds the token, and nothing of anybody's."""

import re

import pytest
from django.test import Client as Browser
from django.test import override_settings

from ledger import jobs
from ledger.models import Due
from tests.assistant.doors.conftest import make_desk
from tests.cast import Cast
from tests.queries import counted

TOKEN = "a-token-of-more-than-twenty-characters"


def scrape(**headers: str) -> tuple[int, str]:
    answer = Browser(headers=headers).get("/metrics")
    return answer.status_code, answer.content.decode()


@pytest.mark.parametrize("given", ["", f"Bearer {TOKEN}x", f"Basic {TOKEN}", "Bearer", f"bearer{TOKEN}", "Bearer é"])
def test_without_the_token_there_is_nothing_there(given: str) -> None:
    with override_settings(AVAL_METRICS_TOKEN=TOKEN):
        status, text = scrape(authorization=given)
    assert status == 404 and "aval_" not in text


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer "])
def test_it_is_off_where_no_token_is_set(given: str) -> None:
    with override_settings(AVAL_METRICS_TOKEN=""):
        assert scrape(authorization=given)[0] == 404


def test_it_counts_what_waits_in_all_companies_and_names_nobody(strangers: Cast) -> None:
    desk = make_desk()
    with override_settings(AVAL_METRICS_TOKEN=TOKEN):
        before = told()
        action = desk.propose("post_letter", text="waits")
        Due.objects.filter(kind="expire_action", object_id=action.pk).update(run_at="2026-01-01T00:00Z")
        with counted() as asked:
            after = told()
        text = scrape(authorization=f"Bearer {TOKEN}")[1]
    assert after['aval_actions{state="card_open"}'] == before['aval_actions{state="card_open"}'] + 1
    assert after['aval_promises_due{kind="expire_action"}'] == before['aval_promises_due{kind="expire_action"}'] + 1
    assert after['aval_promises_late_seconds{kind="expire_action"}'] > 86400
    assert after["aval_companies"] >= 2
    assert set(re.findall(r'kind="(\w+)"', text)) == set(jobs.JOBS)
    for cast in (desk.cast, strangers):
        for name in (cast.company.name, cast.company.slug, str(cast.tenant_id), cast.owner.user.email):
            assert name not in text
    assert len(asked) <= 5, "and no company is entered"
    assert not [sql for sql in asked.statements if "app.tenant" in sql]


def told() -> dict[str, int]:
    status, text = scrape(authorization=f"Bearer {TOKEN}")
    assert status == 200
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r'aval_[a-z_]+(\{[a-z]+="\w+"\})? \d+', line)] == []
    return {name: int(number) for name, _space, number in (line.rpartition(" ") for line in lines)}
