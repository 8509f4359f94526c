"""The page on which one lets somebody else decide while one is away."""

import uuid
from datetime import timedelta

import pytest
from django.test import Client as Browser
from django.utils import timezone

from ledger.models import Delegation
from tests.cast import Cast, lone_ridge, strangers

TODAY = timezone.localdate()


def browser(cast: Cast, name: str) -> Browser:
    web = Browser()
    web.force_login(cast[name].user)
    return web


def fields(cast: Cast, giver: str, taker: str, **more: str) -> dict[str, str]:
    own = {
        "giver": str(cast[giver].pk),
        "taker": str(cast[taker].pk),
        "first": TODAY.isoformat(),
        "last": (TODAY + timedelta(days=3)).isoformat(),
        "key": str(uuid.uuid4()),
    }
    return own | more


def test_it_is_given_shown_and_taken_back():
    cast = lone_ridge()
    web = browser(cast, "dana")
    form = fields(cast, "dana", "sam")
    assert [web.post("/away/", form).status_code for _ in range(2)] == [303, 303]
    with cast.scope():
        given = Delegation.objects.get()
    page = web.get("/away/").content.decode()
    assert "Sam" in page
    assert browser(cast, "alex").post(f"/away/{given.pk}/end").status_code == 303
    with cast.scope():
        assert Delegation.objects.get().ended_at is None
    assert make_strangers_browser().post(f"/away/{given.pk}/end").status_code == 404
    assert web.post(f"/away/{given.pk}/end").status_code == 303
    with cast.scope():
        assert Delegation.objects.get().ended_by_id == cast.dana.pk
    assert "Everybody decides for themselves." in web.get("/away/").content.decode()


def make_strangers_browser() -> Browser:
    return browser(strangers(), "mallory")


@pytest.mark.parametrize(
    ("who", "giver", "taker", "more", "says"),
    [
        ("dana", "dana", "dana", {}, "Choose somebody else."),
        ("dana", "dana", "sam", {"last": "2020-01-01"}, "Choose a time that is still to come"),
        ("alex", "dana", "alex", {}, ""),
        ("dana", "dana", "sam", {"first": "tomorrow"}, ""),
    ],
)
def test_what_cannot_be_is_said_at_its_field(who, giver, taker, more, says):
    cast = lone_ridge()
    answer = browser(cast, who).post("/away/", fields(cast, giver, taker, **more))
    assert answer.status_code == 422
    assert 'class="err"' in answer.content.decode()
    assert says in answer.content.decode()
    with cast.scope():
        assert not Delegation.objects.exists()
