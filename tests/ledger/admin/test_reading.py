"""What staff see of a company: all of it to read, nothing to change, nothing of another (R7, R13)."""

import pytest
from django.test import RequestFactory

from ledger.admin_site import site
from ledger.models import Client, User
from tests import operators
from tests.cast import Cast, john_smith
from tests.operators import STRANGE, text, url

# What belongs to another company


OURS = [model for model in site._registry if model._meta.app_label == "ledger" and model is not User]
EMPTY = {"creditnote", "refund", "sandboxdelivery"}
"""Nothing of this in `stocked`; their lists are walked all the same."""


def test_ids_of_another_company_are_not_found_at_any_address(stocked: Cast, strangers: Cast) -> None:
    browser = operators.inside(strangers.company)
    for model in OURS:
        with stocked.scope():
            row = model._default_manager.first()
        if row is None:
            assert model._meta.model_name in EMPTY
            continue
        own = operators.inside(stocked.company)
        assert own.get(url(model, "change", row.pk)).status_code == 200, "there is something that could be found"
        for page in ("change", "history", "delete"):
            assert browser.get(url(model, page, row.pk)).status_code == 404, (model, page)
            assert browser.post(url(model, page, row.pk)).status_code in (403, 404), (model, page)


def test_lists_hold_this_company_alone(stocked: Cast, strangers: Cast) -> None:
    with strangers.scope():
        john_smith(strangers, name="Mallory's Client")
    page = text(operators.inside(stocked.company).get(url(Client, "changelist")))
    assert "John Smith" in page
    assert "Mallory" not in page


@pytest.mark.parametrize("bad", ["zzz", "1", STRANGE, "..", "%00", "é" * 50])
def test_an_id_that_is_none_is_not_found(stocked: Cast, bad: str) -> None:
    browser = operators.inside(stocked.company)
    for model in (*OURS, User):
        response = browser.get(f"/admin/ledger/{model._meta.model_name}/{bad}/change/")
        assert response.status_code in (400, 404), model


# Nothing is changed from here


def test_nothing_is_added_changed_or_removed(stocked: Cast) -> None:
    user = operators.staff(is_superuser=True)
    browser = operators.inside(stocked.company, user)
    request = RequestFactory().get("/admin/")
    request.user = user
    for model, own in site._registry.items():
        if model is User:
            continue
        rights = own.get_model_perms(request)
        assert rights == {"add": False, "change": False, "delete": False, "view": True}, model
        assert own.get_actions(request) == {}
        for inline in own.inlines:
            made = inline(model, site)
            assert not made.has_add_permission(request, None), inline
            assert not made.has_change_permission(request), inline
            assert not made.has_delete_permission(request), inline
        assert browser.get(url(model, "add")).status_code == 403
        assert browser.post(url(model, "add"), {"name": "New"}).status_code == 403


def test_a_post_to_a_row_changes_nothing(stocked: Cast) -> None:
    browser = operators.inside(stocked.company, operators.staff(is_superuser=True))
    with stocked.scope():
        before = Client.objects.get()
    for page in ("change", "delete"):
        posted = {"name": "Changed", "post": "yes", "_save": "1"}
        assert browser.post(url(Client, page, before.pk), posted).status_code == 403
    action = {"action": "delete_selected", "_selected_action": [str(before.pk)], "post": "yes"}
    browser.post(url(Client, "changelist"), action)
    with stocked.scope():
        after = Client.objects.get()
    assert (after.name, after.version, after.deleted_at) == (before.name, before.version, None)


def test_history_is_the_audit_chain(stocked: Cast) -> None:
    browser = operators.inside(stocked.company)
    with stocked.scope():
        client = Client.objects.get()
    shown = browser.get(url(Client, "history", client.pk), follow=True)
    assert shown.redirect_chain == [(f"/admin/ledger/auditevent/?subject_id={client.pk}", 302)]
    assert "client.created" in text(shown)
    assert "quote.sent" not in text(shown)


# What is shown


def test_every_section_stands_in_the_index_with_its_lists(lone_ridge: Cast) -> None:
    page = text(operators.inside(lone_ridge.company).get("/admin/"))
    for model in site._registry:
        listed = f'href="{url(model, "changelist")}"' in page
        assert listed == (model._meta.model_name != "quoterevision"), model
    assert 'href="/admin/chain/"' in page
    assert 'href="/admin/sandbox/"' in page
    assert "django_q" not in page.lower()


def test_every_list_and_every_row_opens(stocked: Cast) -> None:
    browser = operators.inside(stocked.company)
    for model in OURS:
        response = browser.get(url(model, "changelist"))
        assert response.status_code == 200, model
        assert text(response).count("<h1>") == 1
        with stocked.scope():
            row = model._default_manager.first()
        if row is not None:
            response = browser.get(url(model, "change", row.pk))
            assert response.status_code == 200, model
            assert text(response).count("<h1>") == 1
            assert "object at 0x" not in text(response)


def test_amounts_are_written_as_people_read_them(stocked: Cast) -> None:
    browser = operators.inside(stocked.company)
    assert "$10,157.64" in text(browser.get("/admin/ledger/quote/"))
    assert "$50.00" in text(browser.get("/admin/ledger/payment/"))
    reader = operators.staff(language="pt-br")
    assert "10.157,64" in text(operators.inside(stocked.company, reader).get("/admin/ledger/quote/"))


def test_a_tax_id_is_never_shown_whole(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge, kind="company", tax_id="12-3456789")
    page = text(operators.inside(lone_ridge.company).get(url(Client, "change", client.pk)))
    assert client.tax_id_masked in page, "its end is there to be compared"
    assert client.tax_id not in page
    assert client.tax_id.replace("-", "") not in page
    assert client.tax_id_hash not in page
    assert client.tax_id_sealed not in page


def test_what_a_reader_would_not_see_is_spelled_out(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = john_smith(lone_ridge)
        Client.objects.filter(pk=client.pk).update(name="John\u202ehtimS")
    page = text(operators.inside(lone_ridge.company).get(url(Client, "changelist")))
    assert "John⟨U+202E⟩htimS" in page
    assert "\u202e" not in page


def test_a_search_finds_by_words_by_ref_and_by_the_whole_id(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        smith, jones = john_smith(lone_ridge), john_smith(lone_ridge, name="Ann Jones", email="a@example.com")
    browser = operators.inside(lone_ridge.company)
    for wanted in ("John", smith.ref, str(smith.pk)):
        page = text(browser.get(url(Client, "changelist"), {"q": wanted}))
        assert (str(smith.pk) in page, str(jones.pk) in page) == (True, False), wanted
    assert str(smith.pk) not in text(browser.get(url(Client, "changelist"), {"q": STRANGE}))


# Bad input


BAD_QUERIES = [
    {"q": "a\x00b"},
    {"q": "%'\"\\;--" * 30},
    {"status__exact": "nothing"},
    {"status__exact": "a\x00b"},
    {"status": "x" * 5000},
    {"p": "-1"},
    {"p": "abc"},
    {"p": "99999999999999999999"},
    {"o": "9.-9.x"},
    {"o": "99999999999999999999"},
    {"all": ""},
    {"_to_field": "email"},
    {"_popup": "1"},
    {"id__exact": "zzz"},
    {"id__in": "zzz,1"},
    {"tenant__exact": STRANGE},
    {"tenant__slug": "x"},
    {"created_by__user__password__startswith": "a"},
    {"created_at__gte": "never"},
    {"created_at__year": "99999999999"},
    {"at__year": "abc"},
    {"at__year": "99999"},
    {"at__month": "77"},
    {"subject_id": "zzz"},
    {"nothing__at__all": "1"},
    {"level": "99999999999999999999999"},
    {"version__exact": "99999999999999999999999999"},
    {"version__exact": "1e400"},
    {"about": "x\x00"},
    {"door": "nowhere"},
    {"e": "1"},
]


def test_no_query_breaks_a_list(stocked: Cast) -> None:
    browser = operators.inside(stocked.company)
    for model in (*OURS, User):
        for query in BAD_QUERIES:
            response = browser.get(url(model, "changelist"), query)
            assert response.status_code in (200, 302, 400, 404), (model, query)
            assert "pbkdf2" not in text(response) and "argon2" not in text(response)
