"""The client's page: whoever holds the link sees one revision; only a person's POST changes anything (H34)."""

import re
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

import pytest
import time_machine
from django.core.cache import cache
from django.db import connection
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext

from ledger import links
from ledger.actions.quote_answers import decline_quote
from ledger.actions.quotes import create_quote, delete_quote, revise_quote, withdraw_quote
from ledger.models import Acceptance, AuditEvent, PublicLink, Quote, QuoteRevision
from tests.cast import Cast, john_smith
from tests.offers import CEDAR_BEND_TOTAL, cedar_bend, lines_of, send

STRANGER = Browser(enforce_csrf_checks=True, raise_request_exception=False)


@dataclass
class Sent:
    """A quote that is with the client, and the way to its page."""

    cast: Cast
    quote: Quote
    revision: QuoteRevision
    url: str

    def form(self, **given: str) -> dict[str, str]:
        """What the page's own form would post."""
        page = STRANGER.get(self.url).content.decode()
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
        return hidden | {"name": "John Smith"} | given

    def status(self) -> str:
        with self.cast.scope():
            return str(Quote.objects.get(pk=self.quote.pk).status)

    def events(self) -> int:
        with self.cast.scope():
            return AuditEvent.objects.count()


def out(cast: Cast, quote: Quote) -> Sent:
    revision = send(cast, quote)
    link = PublicLink.objects.get(object_id=revision.pk)
    return Sent(cast, quote, revision, f"/q/{links.token_of(link)}/")


@pytest.fixture(autouse=True)
def fresh_counts() -> None:
    cache.clear()


@pytest.fixture
def sent(lone_ridge: Cast) -> Sent:
    with lone_ridge.scope():
        return out(lone_ridge, cedar_bend(lone_ridge))


def test_the_page_shows_the_quote_of_the_record(sent: Sent) -> None:
    answer = STRANGER.get(sent.url)
    page = answer.content.decode()
    assert answer.status_code == 200
    for words in ("Q-0001", "Full roof replacement, 28 squares", "John Smith", "$10,157.64", "$3,047.29", "−$516.28"):
        assert words in page
    assert page.count("<tr>") == 4
    assert 'lang="en"' in page


def test_the_page_is_nobodys_business_but_the_holders(sent: Sent) -> None:
    answer = STRANGER.get(sent.url)
    assert answer["Referrer-Policy"] == "no-referrer"
    assert answer["Cache-Control"] == "no-store, private"
    assert answer["X-Robots-Tag"] == "noindex, nofollow"
    assert "noindex" in answer.content.decode()
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    assert not answer.cookies


def test_h34_scanners_change_nothing_and_a_person_accepts_once(sent: Sent) -> None:
    before = sent.events()
    for agent in ("Scanner/1", "Scanner/2", "Scanner/1"):
        assert STRANGER.get(sent.url, headers={"user-agent": agent}).status_code == 200
        assert STRANGER.get(f"{sent.url}accept/", headers={"user-agent": agent}).status_code == 302
        assert STRANGER.get(f"{sent.url}pdf/", headers={"user-agent": agent}).status_code == 200
    assert STRANGER.head(sent.url).status_code == 200
    assert (sent.status(), sent.events()) == ("sent", before)
    form = sent.form()
    first = STRANGER.post(f"{sent.url}accept/", form, headers={"user-agent": "Person/1"})
    assert (first.status_code, first["Location"]) == (303, sent.url)
    second = STRANGER.post(f"{sent.url}accept/", form | {"name": "Other Person"})
    assert second.status_code == 200
    assert "This quote was already accepted on" in second.content.decode()
    assert "John Smith" in second.content.decode()
    with sent.cast.scope():
        stored = Acceptance.objects.get()
        assert (stored.signer_name, stored.user_agent, stored.address) == ("John Smith", "Person/1", "127.0.0.1")
        assert stored.total_cents == CEDAR_BEND_TOTAL
        event = AuditEvent.objects.get(kind="quote.accepted")
        assert (event.door, event.address, event.actor_id) == ("portal", "127.0.0.1", None)
    assert "Accepted on" in STRANGER.get(sent.url).content.decode()


def test_seen_is_a_post_of_the_page_and_a_fetch_is_not(sent: Sent) -> None:
    assert STRANGER.get(f"{sent.url}seen/").status_code == 405
    assert STRANGER.post(f"{sent.url}seen/").status_code == 400
    assert sent.status() == "sent"
    assert STRANGER.post(f"{sent.url}seen/", {"form": sent.form()["form"]}).status_code == 204
    assert sent.status() == "viewed"


@pytest.mark.parametrize("deed", ["accept", "decline", "changes", "seen"])
def test_a_post_without_the_pages_own_word_changes_nothing(sent: Sent, deed: str) -> None:
    before = sent.events()
    for word in ("", "x", "\x00", sent.form()["form"][:-1] + "!", "a" * 5000):
        posted = sent.form(wish="x", reason="x") | {"form": word}
        assert STRANGER.post(f"{sent.url}{deed}/", posted).status_code == 400
    assert (sent.status(), sent.events()) == ("sent", before)


def test_the_word_of_one_page_does_not_open_another(sent: Sent) -> None:
    with sent.cast.scope():
        other = out(sent.cast, create_quote(sent.quote.party, by=sent.cast.dana, title="R", lines=lines_of("1.00")))
    posted = sent.form() | {"form": other.form()["form"]}
    assert STRANGER.post(f"{sent.url}accept/", posted).status_code == 400


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"name": ""}, 422),
        ({"name": "\x00\u202e"}, 422),
        ({"name": "x" * 5000}, 422),
        ({"document": "0" * 64}, 409),
        ({"document": "\x00"}, 409),
        ({"total": "1"}, 409),
        ({"total": "-1"}, 409),
        ({"total": "1e9"}, 409),
        ({"total": "٣"}, 409),
        ({"total": "9" * 5000}, 409),
        ({"total": "NaN"}, 409),
    ],
)
def test_bad_input_gets_a_sentence_and_changes_nothing(sent: Sent, given: dict[str, str], status: int) -> None:
    before = sent.events()
    answer = STRANGER.post(f"{sent.url}accept/", sent.form(**given))
    assert answer.status_code == status
    assert 'role="alert"' in answer.content.decode()
    assert (sent.status(), sent.events()) == ("sent", before)


def test_a_form_with_a_thousand_fields_is_refused(sent: Sent) -> None:
    posted = sent.form() | {f"f{n}": "1" for n in range(1000)}
    assert STRANGER.post(f"{sent.url}accept/", posted).status_code == 400


def test_unknown_closed_and_malformed_tokens_get_the_same_404(sent: Sent) -> None:
    link = PublicLink.objects.get(object_id=sent.revision.pk)
    unknown = STRANGER.get(f"/q/{'a' * 43}/")
    links.close_link(PublicLink.Kind.QUOTE, sent.revision.pk)
    closed = STRANGER.get(sent.url)
    short = STRANGER.get("/q/abc/")
    assert [answer.status_code for answer in (unknown, closed, short)] == [404, 404, 404]
    assert unknown.content == closed.content == short.content
    assert not unknown.cookies
    for answer in (unknown, closed, short):
        assert answer["Referrer-Policy"] == "no-referrer"
    for tail in ("accept/", "decline/", "changes/", "seen/"):
        assert STRANGER.post(f"{sent.url}{tail}", {"form": "x"}).status_code == 404
    assert STRANGER.get(f"{sent.url}pdf/").status_code == 404
    assert link.token_sha256 not in sent.url


@pytest.mark.parametrize("path", ["/q/%00/", "/q/%F0%9F%98%80/", "/q/../admin/", f"/q/{'a' * 4000}/", "/q//"])
def test_a_hostile_path_is_a_404(path: str) -> None:
    assert STRANGER.get(path).status_code in (302, 404)


def test_a_withdrawn_quote_says_so_without_its_contents(sent: Sent) -> None:
    with sent.cast.scope():
        withdraw_quote(sent.quote, by=sent.cast.dana, reason="wrong roof")
    answer = STRANGER.get(sent.url)
    assert answer.status_code == 410
    assert "no longer available" in answer.content.decode()
    assert "$10,157.64" not in answer.content.decode()
    assert STRANGER.get(f"{sent.url}pdf/").status_code == 410


def test_a_superseded_revision_says_so_and_the_new_link_works(sent: Sent) -> None:
    form = sent.form()
    with sent.cast.scope():
        revise_quote(sent.quote, by=sent.cast.dana)
        newer = out(sent.cast, sent.quote)
    answer = STRANGER.get(sent.url)
    assert answer.status_code == 410
    assert "newer version" in answer.content.decode()
    assert STRANGER.post(f"{sent.url}accept/", form).status_code == 410
    assert newer.url != sent.url
    assert STRANGER.get(newer.url).status_code == 200
    assert sent.status() == "sent"


def test_an_expired_quote_says_so_to_whoever_looks(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        sent = out(lone_ridge, cedar_bend(lone_ridge, valid_days=1))
    form = sent.form()
    with time_machine.travel(sent.revision.sent_at + timedelta(days=3)):
        answer = STRANGER.get(sent.url)
        assert answer.status_code == 410
        assert "has expired" in answer.content.decode()
        assert STRANGER.post(f"{sent.url}accept/", form).status_code == 410
    assert sent.status() == "sent"


def test_declining_and_asking_for_changes_are_posts(sent: Sent) -> None:
    word = sent.form()["form"]
    assert STRANGER.post(f"{sent.url}changes/", {"form": word}).status_code == 422
    asked = STRANGER.post(f"{sent.url}changes/", {"form": word, "wish": "A ridge vent, please"})
    assert (asked.status_code, sent.status()) == (303, "changes_requested")
    declined = STRANGER.post(f"{sent.url}decline/", {"form": word, "reason": "<script>alert(1)</script>"})
    assert (declined.status_code, sent.status()) == (303, "declined")
    assert "You declined this quote" in STRANGER.get(sent.url).content.decode()
    with sent.cast.scope():
        assert QuoteRevision.objects.get().decline_reason == "<script>alert(1)</script>"


def test_options_are_counted_by_the_same_function_and_accepted_with_their_total(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        lines = [*lines_of("1000.00"), *lines_of("250.00", optional=True)]
        sent = out(lone_ridge, create_quote(john_smith(lone_ridge), by=lone_ridge.dana, title="R", lines=lines))
        option = str(sent.revision.lines.get(unit_price=Decimal(250)).pk)
    assert "Accept for $1,000.00" in STRANGER.get(sent.url).content.decode()
    chosen = STRANGER.get(sent.url, {"chosen": "1", "option": [option, "\x00", "x"]}).content.decode()
    assert "Accept for $1,250.00" in chosen
    posted = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', chosen)) | {"name": "John Smith"}
    assert STRANGER.post(f"{sent.url}accept/", posted).status_code == 303
    with lone_ridge.scope():
        assert (Acceptance.objects.get().total_cents, Acceptance.objects.get().selected) == (125_000, [option])
    assert "$1,250.00" in STRANGER.get(sent.url).content.decode()


def test_the_page_speaks_the_clients_language(aurora: Cast) -> None:
    with aurora.scope():
        client = john_smith(aurora, name="João Silva", phone="+5519991230101", language="pt-BR")
        quote = create_quote(client, by=aurora.bia, title="Calhas", lines=lines_of("3588.00", tax=Decimal(5)))
        sent = out(aurora, quote)
    answer = STRANGER.get(sent.url, headers={"accept-language": "en"})
    page = answer.content.decode()
    assert 'lang="pt-br"' in page
    assert answer["Content-Language"] == "pt-br"
    assert "Aceitar por R$\u00a03.588,00" in page
    assert "R$\u00a0170,86" in page  # 5 % worked out of the price


def test_names_and_words_of_the_record_are_escaped(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge, name="<b>Smith</b> & Sons")
        sent = out(lone_ridge, create_quote(client, by=lone_ridge.dana, title="<i>x</i>", lines=lines_of("1.00")))
    page = STRANGER.get(sent.url).content.decode()
    assert "<b>Smith" not in page
    assert "&lt;b&gt;Smith&lt;/b&gt; &amp; Sons" in page


def test_the_pdf_is_exactly_the_one_that_was_sent(sent: Sent) -> None:
    answer = STRANGER.get(f"{sent.url}pdf/")
    assert answer["Content-Type"] == "application/pdf"
    assert answer["Content-Disposition"] == 'inline; filename="Q-0001.pdf"'
    with sent.cast.scope():
        assert answer.content == bytes(QuoteRevision.objects.get().document.content)


def test_a_quote_in_the_trash_is_gone_for_its_client(sent: Sent) -> None:
    with sent.cast.scope():
        decline_quote(sent.revision, reason="")
        delete_quote(Quote.objects.get(), by=sent.cast.dana)
    assert STRANGER.get(sent.url).status_code == 404


def test_knocking_too_often_gets_429_and_says_when_to_come_back(sent: Sent) -> None:
    answers = [STRANGER.post(f"{sent.url}seen/", {"form": "x"}).status_code for _ in range(25)]
    assert answers.count(429) == 5
    last = STRANGER.post(f"{sent.url}seen/")
    assert last["Retry-After"] == "60"
    assert STRANGER.get(sent.url).status_code == 200  # reading goes on


def test_the_page_takes_as_many_queries_for_thirty_lines_as_for_one(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        pages = [
            out(lone_ridge, create_quote(client, by=lone_ridge.dana, title="R", lines=lines_of("1.00") * count))
            for count in (1, 30)
        ]
    counts = []
    for sent in pages:
        with CaptureQueriesContext(connection) as captured:
            assert STRANGER.get(sent.url).status_code == 200
        counts.append(len(captured))
    assert counts[0] == counts[1] <= 10
