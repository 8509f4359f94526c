"""Settings: the review policy in plain sentences and by forms, its versions, and the switch of the assistant."""

import json
import re
import uuid
from typing import Any

import pytest
from django.test import Client as Browser

from assistant.gate import pausing, policy_versions, review
from assistant.models import ReviewPolicy
from ledger.models import Suspension
from tests.assistant.doors.conftest import Desk, make_desk
from tests.cast import Cast, aurora, joanne_smith, john_smith
from tests.queries import counted

REVIEW, HISTORY = "/settings/review/", "/settings/review/history/"


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html.replace("\xa0", " ")))


def page(browser: Browser, url: str = REVIEW) -> str:
    answer = browser.get(url)
    assert answer.status_code == 200
    return answer.content.decode()


def post(browser: Browser, part: str, *, expected: int | None = None, **fields: Any) -> Any:
    """The form of a part as the page has it now, with these fields changed."""
    standing = int(re.findall(r'name="expected" value="(\d+)"', page(browser))[0])
    given = {"key": str(uuid.uuid4()), "expected": standing if expected is None else expected}
    return browser.post(f"{REVIEW}{part}", given | fields)


def policy(cast: Cast) -> dict[str, Any]:
    with cast.scope():
        found: dict[str, Any] = json.loads(review.as_text(review.current().policy))
        return found


RULE = {"level": "1", "people": "1"}


def test_a_rule_is_typed_as_people_write_and_read_as_a_sentence(desk: Desk):
    browser = desk.browser()
    given = {"tool": "send_quote", "amount_from": "$10,000", "level": "3", "people": "2"}
    answer = post(browser, "rule", **given)
    assert (answer.status_code, answer["Location"]) == (303, REVIEW)
    html = text_of(page(browser))
    assert "Send quote, from $10,000.00: level 3, two people" in html
    assert "Version 1 is in force." in html
    assert "Send quote Level 2: a card with the full preview" in html
    assert policy(desk.cast)["rules"] == [
        {"tools": ["send_quote"], "amount_from_cents": 1_000_000, "level": 3, "people": 2}
    ]
    post(browser, "rule", **RULE, match="fuzzy", role="sales", door="mcp", outside="on", refused="on")
    sentence = (
        "Everything that has a card, found among several or by a similar spelling, after reading from outside,"
        " asked for by Sales, through MCP client: refused"
    )
    assert sentence in text_of(page(browser))
    assert post(browser, "remove-rule", which="0").status_code == 303
    assert [rule.get("refused") for rule in policy(desk.cast)["rules"]] == [True]
    assert post(browser, "remove-rule", which="7").status_code == 303
    assert "Somebody changed this meanwhile" in page(browser)


def test_a_rule_names_its_party_by_number_or_name_and_asks_where_two_fit(desk: Desk):
    """H30: nothing picks one of two Smiths."""
    browser = desk.browser()
    with desk.cast.scope():
        joanne_smith(desk.cast)
    asked = post(browser, "rule", **RULE | {"level": "2"}, counterparty="Smith")
    html = asked.content.decode()
    assert asked.status_code == 422
    assert "More than one fits. Choose one." in html
    assert re.findall(r'type="radio" name="which" value="([^"]+)"', html) == ["C-0001", "L-0001"]
    assert 'value="Smith"' in html
    post(browser, "rule", **RULE | {"level": "2"}, counterparty="Smith", which="L-0001")
    post(browser, "rule", **RULE | {"level": "2"}, counterparty="John Smith")
    post(browser, "rule", **RULE | {"level": "2"}, counterparty="c-0001")
    assert [rule["counterparty"] for rule in policy(desk.cast)["rules"]] == ["L-0001", "C-0001", "C-0001"]
    assert "Everything that has a card, for L-0001 Joanne Smith: level 2" in text_of(page(browser))
    for nobody in ("C-9999", "Nobody"):
        assert post(browser, "rule", **RULE | {"level": "2"}, counterparty=nobody).status_code == 422


def test_h09_amounts_are_read_in_the_readers_way_and_never_guessed():
    office = aurora()
    with office.scope():
        client = john_smith(office)
    assert client.ref == "C-0001"
    browser = Browser()
    browser.force_login(office.bia.user)
    assert post(browser, "daily", money_out="R$ 1.500,50", money_in="dois mil reais").status_code == 303
    assert policy(office)["daily"] == {"money_out_cents": 150_050, "money_in_cents": 200_000}
    html = page(browser)
    assert 'value="1500,50"' in html
    assert 'lang="pt-br"' in html
    post(browser, "most", tool="refund_payment", most="1.000")
    assert policy(office)["most_cents"] == {"refund_payment": 100_000}
    wrong = post(browser, "daily", money_out="1,000")
    assert wrong.status_code == 422
    assert 'value="1,000"' in wrong.content.decode()
    assert policy(office)["daily"]["money_out_cents"] == 150_050


@pytest.mark.parametrize(
    ("part", "fields", "says"),
    [
        ("rule", RULE, "Say what the rule asks for"),
        ("rule", RULE | {"level": "2", "amount_from": "-5"}, "That may not be negative."),
        ("rule", RULE | {"level": "2", "amount_from": "1.500"}, "Do you mean"),
        ("rule", RULE | {"level": "0"}, "Select a valid choice"),
        ("rule", RULE | {"tool": "list_clients", "level": "2"}, "Select a valid choice"),
        ("most", {"tool": "refund_payment", "most": ""}, "This field is required"),
        ("domains", {"domains": "example.com\n@all"}, "“all” is no domain."),
        ("second", {"escalate": "60", "expire": "60"}, "The backup is called before the time is over"),
        ("rest", {"cooling_off": "0", "review_percent": "5"}, "greater than or equal to 1"),
        ("text", {"text": '{"rules": [{"levle": 3}]}'}, "“rules.0.levle”"),
        ("text", {"text": "alwyas"}, "“policy”"),
    ],
)
def test_t32_what_is_refused_keeps_what_was_typed_and_changes_nothing(desk: Desk, part: str, fields: Any, says: str):
    answer = post(desk.browser(), part, **fields)
    html = answer.content.decode()
    assert answer.status_code == 422
    assert says in html.replace("&quot;", '"')
    for typed in fields.values():
        assert str(typed).split("\n")[-1].replace('"', "&quot;") in html, typed
    with desk.cast.scope():
        assert not ReviewPolicy.objects.exists()


def test_every_part_has_its_form(desk: Desk):
    browser = desk.browser()
    for part, fields in (
        ("daily", {"money_out": "2000", "messages": "100", "parties": "20"}),
        ("most", {"tool": "refund_payment", "most": "1,000.00"}),
        ("domains", {"domains": "Example.com\n\n@client.example"}),
        ("second", {"escalate": "10", "expire": "20"}),
        ("second", {"tool": "refund_payment", "escalate": "5", "expire": "15"}),
        ("rest", {"cooling_off": "20", "review_percent": "50"}),
    ):
        assert post(browser, part, **fields).status_code == 303, part
    assert policy(desk.cast) == {
        "daily": {"money_out_cents": 200_000, "messages": 100, "parties": 20},
        "most_cents": {"refund_payment": 100_000},
        "recipient_domains": ["example.com", "client.example"],
        "second": {"escalate_minutes": 10, "expire_minutes": 20},
        "second_by_tool": {"refund_payment": {"escalate_minutes": 5, "expire_minutes": 15}},
        "cooling_off_seconds": 1200,
        "review_percent": 50,
    }
    for part in ("remove-most", "remove-second"):
        assert post(browser, part, which="refund_payment").status_code == 303
    assert not {"most_cents", "second_by_tool"} & policy(desk.cast).keys()


def test_two_heads_at_once_and_two_presses_of_one(desk: Desk):
    """H22 for the second press; another's change in between is not written over."""
    dana, sam, key = desk.browser(), desk.browser("sam"), str(uuid.uuid4())
    for _ in range(2):
        answer = post(dana, "daily", expected=0, key=key, messages="10")
        assert answer.status_code == 303
    assert "Somebody" not in page(dana)
    late = post(sam, "daily", expected=0, messages="20")
    assert late.status_code == 409
    assert 'value="20"' in late.content.decode()
    assert "Somebody changed this meanwhile" in late.content.decode()
    assert policy(desk.cast)["daily"]["messages"] == 10
    assert post(sam, "daily", messages="20").status_code == 303


def test_the_history_says_who_changed_what_and_puts_back(desk: Desk):
    dana, sam = desk.browser(), desk.browser("sam")
    post(dana, "rule", tool="send_quote", level="3", people="1")
    post(sam, "daily", money_out="500")
    post(sam, "remove-rule", which="0")
    page(dana)
    html = text_of(page(dana, HISTORY))
    third, second, first = (html.index(f"Version {n}") for n in (3, 2, 1))
    assert third < second < first
    assert "Taken away: Send quote: level 3" in html[third:second]
    assert "Sam," in html[third:second]
    assert "Added: Money out in a day: at most $500.00" in html[second:first]
    assert "Dana," in html[first:]
    assert post(dana, "put-back", number="2").status_code == 303
    assert (len(policy(desk.cast)["rules"]), policy(desk.cast)["daily"]) == (1, {"money_out_cents": 50_000})
    assert "Version 4 in force" in text_of(page(dana, HISTORY))
    assert post(dana, "put-back", number="99").status_code == 404


def test_t32_a_stored_policy_that_cannot_be_read_is_said_on_every_page_to_heads_alone(desk: Desk):
    post(desk.browser(), "rule", tool="send_quote", level="3", people="1")
    with counted() as before:
        desk.browser("alex").get("/quotes/")
    with desk.cast.scope():
        ReviewPolicy.objects.create(number=2, text='{"rules": "alwyas"}', created_by=desk.cast.dana)
    for url in ("/quotes/", "/c/", "/inbox/", REVIEW):
        html = text_of(page(desk.browser(), url))
        assert "The newest review policy cannot be read, so the last good one is in force." in html, url
        assert "“rules”" in html
    with counted() as after:
        other = desk.browser("alex").get("/quotes/").content.decode()
    assert "review policy" not in other
    assert len(after) == len(before)
    assert "Version 2 is not in force." in text_of(page(desk.browser()))
    assert "cannot be read" in text_of(page(desk.browser(), HISTORY))
    assert post(desk.browser(), "put-back", number="2").status_code == 303
    assert "Version 3" not in text_of(page(desk.browser(), HISTORY))
    assert post(desk.browser(), "daily", messages="5").status_code == 303
    with desk.cast.scope():
        assert policy_versions.unreadable() is None
        assert (review.current().number, review.current().policy.rules[0].level) == (3, 3)


def test_the_page_asks_as_much_of_the_database_for_many_rules_as_for_one(desk: Desk):
    browser = desk.browser()
    rule = {"counterparty": "C-0001", "level": 2}
    with desk.cast.scope():
        review.change(by=desk.cast.dana, text=json.dumps({"rules": [rule]}), expected=0)
    for url in (REVIEW, HISTORY):
        browser.get(url)
        with counted() as one:
            browser.get(url)
        with desk.cast.scope():
            for _ in range(3):
                number = review.current().number
                text = json.dumps({"rules": [rule] * (number + 5)})
                review.change(by=desk.cast.dana, text=text, expected=number)
        with counted() as many:
            browser.get(url)
        assert len(many) == len(one), url


POSTS = ("review/rule", "review/text", "review/put-back", "review/remove-rule", "pause", "turn-on")


def test_only_heads_find_the_settings(desk: Desk):
    other = make_desk()
    for name in ("alex",):
        assert [desk.browser(name).get(url).status_code for url in ("/settings/", REVIEW, HISTORY)] == [404] * 3
        assert [desk.browser(name).post(f"/settings/{word}").status_code for word in POSTS] == [404] * len(POSTS)
        assert "/settings/" not in page(desk.browser(name), "/c/")
        assert "Pause the assistant" not in page(desk.browser(name), "/c/")
    assert Browser().get(REVIEW)["Location"].startswith("/login/")
    csrf = Browser(enforce_csrf_checks=True)
    csrf.force_login(desk.cast.dana.user)
    assert [csrf.post(f"/settings/{word}").status_code for word in POSTS] == [403] * len(POSTS)
    assert desk.browser().post("/settings/review/nothing", {}).status_code == 404
    with other.cast.scope():
        assert not ReviewPolicy.objects.exists()


def test_the_switch_closes_cards_says_so_everywhere_and_is_turned_on_in_settings(desk: Desk):
    action, dana, sam = desk.propose(), desk.browser(), desk.browser("sam")
    assert "Pause the assistant" in page(dana, "/quotes/")
    assert dana.post("/settings/pause", {"reason": "It writes to the wrong people"})["Location"] == "/settings/"
    assert dana.post("/settings/pause").status_code == 303
    assert "Closed: Dana paused the assistant." in page(dana, desk.url)
    assert desk.fresh(action).closed_by == pausing.PAUSED
    for name, url in (("alex", "/quotes/"), ("sam", "/inbox/"), ("dana", desk.url), ("dana", "/c/")):
        html = text_of(page(desk.browser(name), url))
        assert "The assistant is paused. Dana," in html, url
    assert "It answers" not in html
    assert "The assistant is paused: it answers, and puts nothing up for confirmation." in html
    settings = page(sam, "/settings/")
    assert "It writes to the wrong people" in settings
    (pause,) = re.findall(r'name="pause" value="([^"]+)"', settings)
    assert sam.post("/settings/turn-on", {"pause": pause}).status_code == 303
    assert "The assistant is on again." in text_of(page(sam, "/settings/"))
    assert sam.post("/settings/turn-on", {"pause": pause}).status_code == 303
    assert "The assistant is not paused." in text_of(page(sam, "/settings/"))
    assert sam.post("/settings/turn-on", {"pause": "x"}).status_code == 404
    assert "paused" not in text_of(page(dana, "/quotes/"))


def test_the_pause_is_read_once_for_a_page(desk: Desk):
    browser = desk.browser()
    with counted() as asked:
        browser.get(desk.url)
    assert len([sql for sql in asked.statements if "ledger_suspension" in sql]) == 1


def test_a_program_pauses_too(desk: Desk):
    browser = Browser(enforce_csrf_checks=True)
    browser.force_login(desk.cast.dana.user)
    address, given = "/api/v1/agent/pause", {"reason": "Stop\x00 it"}
    assert browser.post(address, given, content_type="application/json").status_code == 403
    alex, dana = desk.browser("alex"), desk.browser()
    assert alex.post(address, given, content_type="application/json").status_code == 403
    assert Browser().post(address).status_code == 403
    assert dana.get(address).status_code == 405
    with desk.cast.scope():
        assert not Suspension.objects.exists()
    told = dana.post(address, given, content_type="application/json")
    assert (told.status_code, told.json()["paused"], told.json()["reason"]) == (200, True, "Stop it")
    again = dana.post(address, [1], content_type="application/json")
    assert again.json() == told.json()
