"""`/audit/`: the record as the company's people read it (R12)."""

import ast
import html
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client as Browser
from django.utils import timezone, translation

from ledger import audit, nightly, record_words, recorded
from ledger.actions import erasing
from ledger.actions.members import add_member
from ledger.chain import ChainState
from ledger.models import AuditEvent, ChainCheck, Client, Role
from tests.cast import Cast, joanne_smith, john_smith
from tests.queries import counted
from tests.server import ROOT


def browser(cast: Cast, name: str = "dana") -> Browser:
    made = Browser()
    made.force_login(cast[name].user)
    return made


def page(cast: Cast, name: str = "dana", **fields: object) -> str:
    response = browser(cast, name).get("/audit/", {key: str(value) for key, value in fields.items()})
    assert response.status_code == 200
    return html.unescape(response.content.decode())


def words(page: str) -> list[str]:
    return re.findall(r'<p class="what"><strong>([^<]*)</strong>', page)


@pytest.fixture
def told(lone_ridge: Cast) -> Cast:
    with lone_ridge.scope(), audit.entering("web", "192.0.2.7"):
        john_smith(lone_ridge)
        joanne_smith(lone_ridge)
    with lone_ridge.scope():
        audit.record("quote.sent", by=lone_ridge.alex, total=101_576, note="<b>bold</b> \u202e")
    return lone_ridge


def test_events_are_told_newest_first_with_who_when_from_where_and_of_what(told: Cast) -> None:
    shown = page(told)
    assert words(shown)[:3] == ["Quote sent", "Lead added", "Client added"]
    first = shown[shown.index("Client added") :]
    assert '<a href="/clients/C-0001/">C-0001</a>' in first
    assert "Dana" in first and "192.0.2.7" in first and "Web" in first
    with told.scope():
        event = AuditEvent.objects.get(kind="client.created")
    assert f'datetime="{event.at.isoformat()}"' in first
    assert "<b>bold</b>" not in browser(told).get("/audit/").content.decode() and "⟨U+202E⟩" in shown


def test_the_filters_narrow_by_noun_kind_person_subject_and_day(told: Cast) -> None:
    assert words(page(told, kind="lead")) == ["Lead added"]
    assert words(page(told, kind="client.created")) == ["Client added"]
    assert words(page(told, who=told.alex.pk)) == ["Quote sent"]
    assert words(page(told, who=told.alex.pk, kind="client")) == []
    assert words(page(told, subject="l-0001")) == ["Lead added"]
    with told.scope():
        assert words(page(told, subject=Client.objects.get().pk)) == ["Client added"]
    assert words(page(told, subject="C-9999")) == []
    assert "Write a number such as Q-0001" in page(told, subject="C-9999")
    today = timezone.localdate(timezone=timezone.get_current_timezone())
    assert words(page(told, first=today + timedelta(days=2))) == []
    assert words(page(told, last=today - timedelta(days=2))) == []
    assert len(words(page(told, first=today - timedelta(days=2), last=today + timedelta(days=2)))) > 3
    for nonsense in ({"kind": "x"}, {"who": "x"}, {"first": "99999-01-01"}, {"after": "1~x"}, {"first": "0001-01-01"}):
        assert words(page(told, **nonsense))[0] == "Quote sent"


def test_a_day_is_the_companys_day(lone_ridge: Cast) -> None:
    since, until = recorded.days(datetime(2026, 11, 30).date(), datetime(2026, 11, 30).date(), "America/Chicago")  # noqa: DTZ001
    assert (since, until) == (datetime(2026, 11, 30, 6, tzinfo=UTC), datetime(2026, 12, 1, 6, tzinfo=UTC))


@pytest.mark.parametrize("wanted", [{}, {"kind": "note"}, {"kind": "note.added"}])
def test_pages_follow_each_other_without_a_gap_whatever_comes_meanwhile(
    lone_ridge: Cast, monkeypatch: pytest.MonkeyPatch, wanted: dict[str, str]
) -> None:
    monkeypatch.setattr(recorded.newest, "__defaults__", ("", 4))
    with lone_ridge.scope():
        for number in range(11):
            audit.record("note.added" if number % 2 else "note.deleted", by=lone_ridge.owner, number=number)
        total = AuditEvent.objects.count() if not wanted else {"note": 11, "note.added": 5}[wanted["kind"]]
    seen: list[str] = []
    after = ""
    for _ in range(20):
        shown = page(lone_ridge, after=after, **wanted)
        seen += re.findall(r'id="event-([^"]*)"', shown)
        with lone_ridge.scope():
            audit.record("note.added", by=lone_ridge.owner, late=True)
        following = re.search(r"[?&]after=([^\"&]*)\">Older", shown)
        if following is None:
            break
        after = following[1].replace("%7E", "~")
    assert len(seen) == len(set(seen)) == total


def test_a_page_of_thirty_costs_as_many_queries_as_a_page_of_three(told: Cast) -> None:
    own = browser(told)
    own.get("/audit/")
    with counted() as few:
        own.get("/audit/")
    with told.scope():
        for number in range(40):
            audit.record("client.updated", by=told.owner, subject=Client.objects.get(), number=number)
    with counted() as many:
        own.get("/audit/")
    assert len(many) == len(few)


def test_those_who_may_not_read_the_record_find_nothing(told: Cast, strangers: Cast) -> None:
    assert browser(told, "alex").get("/audit/").status_code == 404
    assert "/audit/" not in browser(told, "alex").get("/clients/").content.decode()
    assert "/audit/" in browser(told, "sam").get("/clients/").content.decode()
    with told.scope():
        email = f"ann@{told.company.slug}.example"
        told.people["ann"] = add_member(by=told.owner, email=email, name="Ann", role=Role.ACCOUNTANT)
    assert "Quote sent" in words(page(told, "ann"))
    assert "Quote sent" not in words(page(strangers, "mallory"))
    assert Browser().get("/audit/").status_code == 302


def test_the_state_of_the_chain_stands_above_it(told: Cast) -> None:
    assert "The chain has not been read yet" in page(told)
    nightly.verify_chain(told.tenant_id, told.tenant_id)
    with told.scope():
        length = ChainCheck.objects.get().length
    shown = page(told)
    assert f"The chain is whole up to link {length}, checked at" in shown and "1 event since then." in shown
    with told.scope():
        ChainCheck.objects.update(checked_at=timezone.now() - timedelta(days=3))
    assert "the operator's worker may be down" in page(told)
    with told.scope():
        nightly.conclude(ChainState(4, 5, "hash"))
    shown = page(told)
    assert "The chain breaks at link 5: an event is not what its link was made of." in shown
    assert "Nothing is mended by itself." in shown and "/inbox/doubt/" in shown


def test_an_erased_event_says_so(told: Cast) -> None:
    with told.scope():
        audit.record("client.updated", by=told.owner, subject=Client.objects.get(), name="Johnny")
    assert "Johnny" in page(told, subject="C-0001")
    with told.scope():
        erasing.erase_person(erasing.person_of("C-0001"), by=told.owner, reason="Asked.")
    shown = page(told, subject="C-0001")
    assert "Johnny" not in shown
    assert words(shown) == ["Record erased in part", "Client changed", "Client added"]
    assert shown.count("was erased by an owner, with a reason on record") == 2


# Words


def recorded_kinds() -> set[str]:
    """Every kind that the source records by its name."""
    found: set[str] = set()
    for folder in ("ledger", "assistant"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "audit.record" and node.args:
                    first = node.args[0]
                    options = [first.body, first.orelse] if isinstance(first, ast.IfExp) else [first]
                    found |= {str(one.value) for one in options if isinstance(one, ast.Constant)}
    return found


def test_every_kind_has_a_word_in_both_languages() -> None:
    kinds = recorded_kinds()
    assert len(kinds) > 60
    assert sorted(kinds - record_words.KINDS.keys()) == []
    with translation.override("pt-br"):
        told = {kind: str(label) for kind, label in record_words.KINDS.items()}
    with translation.override("en"):
        assert [kind for kind, label in record_words.KINDS.items() if str(label) == told[kind]] == []
    assert {record_words.noun_of(kind) for kind in record_words.KINDS} <= record_words.NOUNS.keys()


def test_the_page_is_portuguese_for_those_who_read_it(aurora: Cast) -> None:
    with aurora.scope():
        john_smith(aurora, phone="+5519991230102", address={"line1": "Rua A, 1", "city": "Campinas", "region": "SP"})
    shown = page(aurora, "bia")
    assert words(shown)[0] == "Cliente adicionado" and "A cadeia ainda não foi lida" in shown
