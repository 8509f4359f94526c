"""Pages of leads, clients, notes, trash and search: forms taken once, rules beside their field, 404 to strangers."""

import re
import threading
import uuid
from typing import Any

import pytest
from django.db import connection
from django.test import Client as Browser

from ledger.actions.clients import delete_client, update_client
from ledger.actions.conversions import convert_lead_to_client
from ledger.actions.leads import delete_lead
from ledger.actions.members import change_member_role
from ledger.actions.notes import add_note, notes_of
from ledger.actions.quotes import create_quote
from ledger.actions.sites import add_site
from ledger.models import Client, Contact, Lead, Note, Role, Site, SubmittedForm
from tests.cast import Cast, joanne_smith, john_smith
from tests.offers import cedar_bend, lines_of, send
from tests.queries import counted

LEAD = {"name": "Joanne Smith", "phone": "(512) 555-0148", "line1": "88 Barton Hills Dr", "city": "Austin"}
CLIENT = {"kind": "person", "name": "John Smith", "email": "john@example.com", "language": "en-US"}


def browser_of(cast: Cast, name: str = "", **given: Any) -> Browser:
    browser = Browser(raise_request_exception=False, **given)
    browser.force_login((cast[name] if name else cast.owner).user)
    return browser


def keyed(values: dict[str, Any]) -> dict[str, Any]:
    return {"key": str(uuid.uuid4())} | values


@pytest.fixture
def records(lone_ridge: Cast) -> dict[str, str]:
    """Every address of a lead, a client, a contact, a note; as GET, and as POST."""
    with lone_ridge.scope():
        client, lead = john_smith(lone_ridge), joanne_smith(lone_ridge)
        note = add_note(client, by=lone_ridge.owner, body="Gate code 1234")
        contact = client.contacts.get()
    return {"client": client.ref, "lead": lead.ref, "note": note.ref, "contact": str(contact.pk)}


def gets(records: dict[str, str]) -> list[str]:
    client, lead = records["client"], records["lead"]
    return [
        f"/leads/{lead}/",
        f"/leads/{lead}/edit/",
        f"/clients/{client}/",
        f"/clients/{client}/edit/",
        f"/clients/{client}/contacts/{records['contact']}/",
    ]


def posts(records: dict[str, str]) -> dict[str, dict[str, Any]]:
    client, lead = records["client"], records["lead"]
    return {
        f"/leads/{lead}/edit/": LEAD | {"name": "Taken"},
        f"/leads/{lead}/move/": {"stage": "junk"},
        f"/clients/{client}/edit/": CLIENT | {"name": "Taken"},
        f"/clients/{client}/archive/": {},
        f"/clients/{client}/contacts/": {"email": "spy@example.com", "role": "to"},
        f"/clients/{client}/contacts/{records['contact']}/": {"email": "spy@example.com", "role": "to"},
        f"/clients/{client}/contacts/{records['contact']}/remove/": {},
        f"/clients/{client}/sites/": {"line1": "1 Spy St"},
        f"/notes/{records['note']}/delete/": {},
    }


# Who


def test_mallory_gets_404_for_each_address_and_changes_nothing(
    lone_ridge: Cast, strangers: Cast, records: dict[str, str]
) -> None:
    dana, mallory, nobody = browser_of(lone_ridge), browser_of(strangers), Browser()
    for url in gets(records):
        assert dana.get(url).status_code == 200, url
        assert mallory.get(url).status_code == 404, url
        assert nobody.get(url).status_code == 302, url
    for url, values in posts(records).items():
        assert mallory.post(url, keyed(values)).status_code == 404, url
        assert nobody.post(url, keyed(values)).status_code == 302, url
    restore = mallory.post(f"/trash/{records['client']}/restore/", keyed({}))
    assert restore.status_code == 404
    note = mallory.post(f"/records/{records['client']}/notes/", keyed({"body": "spy"}))
    assert note.status_code == 404
    with lone_ridge.scope():
        assert (Client.objects.get().version, Lead.objects.get().version, Note.objects.count()) == (1, 1, 1)
        assert (Contact.objects.get().email, Site.objects.count()) == ("john.smith@example.com", 0)


def test_lists_and_search_show_only_the_own_company(lone_ridge: Cast, strangers: Cast, records: dict[str, str]) -> None:
    with strangers.scope():
        john_smith(strangers, name="Smith Secret")
        joanne_smith(strangers, name="Lead Secret")
    dana = browser_of(lone_ridge)
    for url, shown in (("/clients/", "John Smith"), ("/leads/", "Joanne Smith"), ("/search/?q=smith", "John Smith")):
        page = dana.get(url).content.decode()
        assert shown in page
        assert "Secret" not in page


def test_a_viewer_reads_and_changes_nothing(lone_ridge: Cast, records: dict[str, str]) -> None:
    with lone_ridge.scope():
        change_member_role(lone_ridge.alex, by=lone_ridge.owner, role=Role.VIEWER)
    alex = browser_of(lone_ridge, "alex")
    assert alex.get("/leads/").status_code == 200
    assert alex.get(f"/clients/{records['client']}/").status_code == 200
    for url in (
        "/leads/new/",
        "/clients/new/",
        f"/leads/{records['lead']}/edit/",
        f"/clients/{records['client']}/edit/",
    ):
        assert alex.get(url).status_code == 403, url
    for url, values in posts(records).items():
        assert alex.post(url, keyed(values)).status_code == 403, url
    assert alex.post(f"/records/{records['client']}/notes/", keyed({"body": "x"})).status_code == 403
    assert alex.get("/trash/").status_code == 404
    with lone_ridge.scope():
        assert (Client.objects.get().version, Lead.objects.get().version, Note.objects.count()) == (1, 1, 1)


def test_nothing_is_taken_without_the_csrf_word(lone_ridge: Cast, records: dict[str, str]) -> None:
    dana = browser_of(lone_ridge, enforce_csrf_checks=True)
    for url, values in posts(records).items():
        assert dana.post(url, keyed(values)).status_code == 403, url
    assert dana.post("/leads/new/", keyed(LEAD)).status_code == 403


def test_reading_writes_nothing(lone_ridge: Cast, records: dict[str, str]) -> None:
    dana = browser_of(lone_ridge)
    dana.get("/clients/")
    with counted() as asked:
        for url in [*gets(records), "/leads/", "/clients/", "/trash/", "/search/?q=smith"]:
            assert dana.get(url).status_code == 200
    verbs = {statement.split()[0].lstrip("(") for statement in asked.statements}
    assert verbs <= {"SELECT", "SAVEPOINT", "RELEASE", "BEGIN", "COMMIT"}


# Forms


def test_a_lead_is_added_by_a_plain_form(lone_ridge: Cast) -> None:
    dana = browser_of(lone_ridge)
    page = dana.get("/leads/new/").content.decode()
    key = re.search(r'name="key" value="([0-9a-f-]{36})"', page)
    assert key
    answer = dana.post("/leads/new/", LEAD | {"key": key[1], "value": "$9,000", "notes": "Leak"})
    assert (answer.status_code, answer["Location"]) == (303, "/leads/L-0001/")
    with lone_ridge.scope():
        lead = Lead.objects.get()
        assert (lead.phone, lead.value_cents, lead.created_via) == ("+15125550148", 900_000, "web")
        assert notes_of(lead).get().body == "Leak"
    shown = dana.get("/leads/L-0001/").content.decode()
    for words in ("Joanne Smith", "88 Barton Hills Dr, Austin", "$9,000.00", "Leak", "New"):
        assert words in shown


def test_h22_the_same_form_twice_is_taken_once(lone_ridge: Cast) -> None:
    dana = browser_of(lone_ridge)
    form = keyed(LEAD)
    first, second = (dana.post("/leads/new/", form) for _ in range(2))
    assert first["Location"] == second["Location"] == "/leads/L-0001/"
    with lone_ridge.scope():
        assert Lead.objects.count() == SubmittedForm.objects.count() == 1


def test_h22_eight_clicks_at_once_make_one_client(lone_ridge: Cast) -> None:
    form = keyed(CLIENT)
    browsers = [browser_of(lone_ridge) for _ in range(8)]
    answers: list[tuple[int, str]] = []
    start = threading.Barrier(8)

    def click(browser: Browser) -> None:
        try:
            start.wait(10)
            answer = browser.post("/clients/new/", form)
            answers.append((answer.status_code, answer.headers.get("Location", "")))
        finally:
            connection.close()

    threads = [threading.Thread(target=click, args=(browser,)) for browser in browsers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert answers == [(303, "/clients/C-0001/")] * 8
    with lone_ridge.scope():
        assert Client.objects.count() == 1


def test_a_form_that_failed_may_be_sent_again_under_its_key(lone_ridge: Cast) -> None:
    dana = browser_of(lone_ridge)
    form = keyed(LEAD | {"phone": "12"})
    refused = dana.post("/leads/new/", form)
    assert refused.status_code == 422
    assert "That is not a phone number." in refused.content.decode()
    assert form["key"] in refused.content.decode()
    assert dana.post("/leads/new/", form | {"phone": "5125550148"}).status_code == 303


@pytest.mark.parametrize("key", ["", "1", "x" * 500, "\x00"])
def test_a_form_without_its_key_is_refused(lone_ridge: Cast, key: str) -> None:
    answer = browser_of(lone_ridge).post("/leads/new/", LEAD | {"key": key})
    assert answer.status_code == 400
    with lone_ridge.scope():
        assert not Lead.objects.exists()


@pytest.mark.parametrize(
    ("url", "values"),
    [
        ("/leads/new/", {}),
        ("/leads/new/", LEAD | {"name": "x" * 201}),
        ("/leads/new/", LEAD | {"email": "nonsense"}),
        ("/leads/new/", LEAD | {"value": "twelve dragons"}),
        ("/leads/new/", LEAD | {"value": "-5"}),
        ("/leads/new/", LEAD | {"owner": str(uuid.uuid4())}),
        ("/leads/new/", {"name": "x", "city": "Austin"}),
        ("/leads/new/", {"name": "\u202e\u200b"}),
        ("/clients/new/", CLIENT | {"kind": "robot"}),
        ("/clients/new/", CLIENT | {"terms_days": "-1"}),
        ("/clients/new/", CLIENT | {"terms_days": "9" * 50}),
        ("/clients/new/", CLIENT | {"tax_id": "123"}),
        ("/clients/new/", CLIENT | {"tags": ",".join(str(n) for n in range(60))}),
        ("/clients/new/", CLIENT | {"name": "a\x00b"}),
    ],
)
def test_bad_input_gets_a_sentence_and_changes_nothing(lone_ridge: Cast, url: str, values: dict[str, Any]) -> None:
    answer = browser_of(lone_ridge).post(url, keyed(values))
    assert answer.status_code == 422
    assert 'class="err"' in answer.content.decode() or 'class="errors"' in answer.content.decode()
    with lone_ridge.scope():
        assert not Lead.objects.exists()
        assert not Client.objects.exists()
        assert not SubmittedForm.objects.exists()


@pytest.mark.parametrize("query", ["?after=x", "?after=1~2", "?stage=dragon", "?q=%00", "?q=" + "a" * 5000, "?tag=%00"])
def test_odd_addresses_are_answered(lone_ridge: Cast, query: str) -> None:
    dana = browser_of(lone_ridge)
    for url in ("/leads/", "/clients/", "/search/"):
        assert dana.get(url + query).status_code == 200, url


def test_an_amount_that_can_be_read_in_two_ways_is_asked_about(lone_ridge: Cast) -> None:
    answer = browser_of(lone_ridge).post("/leads/new/", keyed(LEAD | {"value": "1.500"}))
    assert answer.status_code == 422
    assert "$1,500.00" in answer.content.decode()


def test_a_probable_duplicate_is_shown_and_added_on_a_second_word(lone_ridge: Cast, records: dict[str, str]) -> None:
    dana = browser_of(lone_ridge)
    form = keyed({"name": "J. Smith", "phone": "512 555 0148"})
    asked = dana.post("/leads/new/", form)
    assert asked.status_code == 422
    assert '<a href="/leads/L-0001/">L-0001</a> · Joanne Smith' in asked.content.decode()
    assert dana.post("/leads/new/", form | {"on_duplicate": "create"}).status_code == 303
    client = keyed(CLIENT | {"email": "john.smith@example.com"})
    asked = dana.post("/clients/new/", client)
    assert '<a href="/clients/C-0001/">C-0001</a>' in asked.content.decode()
    assert dana.post("/clients/new/", client | {"on_duplicate": "create"}).status_code == 303


def test_a_change_from_an_old_page_is_refused(lone_ridge: Cast, records: dict[str, str]) -> None:
    dana = browser_of(lone_ridge)
    with lone_ridge.scope():
        update_client(Client.objects.get(), by=lone_ridge.owner, expected_version=None, changes={"name": "Newer"})
    answer = dana.post("/clients/C-0001/edit/", keyed(CLIENT | {"version": "1", "name": "Older"}))
    assert answer.status_code == 409
    assert "was changed in the meantime" in answer.content.decode()
    with lone_ridge.scope():
        assert Client.objects.get().name == "Newer"
    assert dana.post("/clients/C-0001/edit/", keyed(CLIENT | {"version": "2", "name": "Newest"})).status_code == 303


def test_an_untouched_form_changes_nothing(aurora: Cast) -> None:
    with aurora.scope():
        john_smith(aurora, phone="+5519991230101", tax_id="529.982.247-25", language="pt-BR")
        joanne_smith(aurora, phone="+5519991230121", value_cents=1_234_56, owner=aurora.bia)
    bia = browser_of(aurora)
    for url in ("/clients/C-0001/edit/", "/leads/L-0001/edit/"):
        page = bia.get(url)
        form = page.context["form"]
        values = {name: form[name].value() if form[name].value() is not None else "" for name in form.fields}
        answer = bia.post(url, keyed(values | {"version": "1"}))
        assert answer.status_code == 303, (url, answer.context["form"].errors)
    with aurora.scope():
        client, lead = Client.objects.get(), Lead.objects.get()
        assert (client.version, lead.version, client.tax_id) == (1, 1, "52998224725")


def test_the_tax_number_is_never_on_a_page(aurora: Cast) -> None:
    with aurora.scope():
        john_smith(aurora, phone="", tax_id="529.982.247-25")
    bia = browser_of(aurora)
    for url in ("/clients/C-0001/", "/clients/C-0001/edit/", "/clients/"):
        page = bia.get(url).content.decode()
        assert "52998224725" not in page
        assert "982.247" not in page


def test_contacts_and_sites_are_added_changed_and_removed(lone_ridge: Cast, records: dict[str, str]) -> None:
    dana = browser_of(lone_ridge)
    added = dana.post("/clients/C-0001/contacts/", keyed({"email": "accounts@example.com", "role": "cc"}))
    assert added.status_code == 303
    again = dana.post("/clients/C-0001/contacts/", keyed({"email": "accounts@example.com", "role": "cc"}))
    assert again.status_code == 422
    url = f"/clients/C-0001/contacts/{records['contact']}/"
    assert dana.post(url, keyed({"email": "new@example.com", "role": "to"})).status_code == 303
    assert "changed in the last 72 hours" in dana.get("/clients/C-0001/").content.decode()
    remove = keyed({})
    assert [dana.post(f"{url}remove/", remove).status_code for _ in range(2)] == [303, 303]
    assert dana.post("/clients/C-0001/sites/", keyed({"line1": "12 Lake Rd", "city": "Hutto"})).status_code == 303
    assert dana.post("/clients/C-0001/sites/", keyed({"city": "Hutto"})).status_code == 422
    with lone_ridge.scope():
        assert (Contact.objects.get().email, Site.objects.get().line1) == ("accounts@example.com", "12 Lake Rd")


# The board, notes, trash


def test_a_lead_is_moved_and_a_lost_one_needs_its_reason(lone_ridge: Cast, records: dict[str, str]) -> None:
    dana = browser_of(lone_ridge)
    assert dana.post("/leads/L-0001/move/", keyed({"stage": "contacted"})).status_code == 303
    refused = dana.post("/leads/L-0001/move/", keyed({"stage": "lost"}))
    assert (refused.status_code, "Say why the lead was lost." in refused.content.decode()) == (422, True)
    assert dana.post("/leads/L-0001/move/", keyed({"stage": "won"})).status_code == 422
    assert dana.post("/leads/L-0001/move/", keyed({"stage": "lost", "lost_reason": "price"})).status_code == 303
    with lone_ridge.scope():
        assert (Lead.objects.get().stage, Lead.objects.get().lost_reason) == ("lost", "price")


def test_a_note_is_added_shown_escaped_and_taken_away(lone_ridge: Cast, records: dict[str, str]) -> None:
    dana = browser_of(lone_ridge)
    form = keyed({"body": "<hx-a hx-get='/x'> & <script>"})
    assert [dana.post("/records/L-0001/notes/", form)["Location"] for _ in range(2)] == ["/leads/L-0001/"] * 2
    page = dana.get("/leads/L-0001/").content.decode()
    assert "&lt;hx-a hx-get=&#x27;/x&#x27;&gt; &amp; &lt;script&gt;" in page
    assert dana.post("/notes/N-0002/delete/", keyed({}))["Location"] == "/leads/L-0001/"
    assert "hx-a" not in dana.get("/leads/L-0001/").content.decode()


def test_h29_names_are_shown_as_stored(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        john_smith(lone_ridge, name="Amy D’Angelo & <b>Söhne</b>")
    page = browser_of(lone_ridge).get("/clients/C-0001/").content.decode()
    assert "Amy D’Angelo &amp; &lt;b&gt;Söhne&lt;/b&gt;" in page


def test_what_was_deleted_is_in_the_trash_and_comes_back(lone_ridge: Cast, records: dict[str, str]) -> None:
    with lone_ridge.scope():
        delete_lead(Lead.objects.get(), by=lone_ridge.owner)
        delete_client(Client.objects.get(), by=lone_ridge.owner)
    dana = browser_of(lone_ridge)
    for url in gets(records):
        assert dana.get(url).status_code == 404, url
    page = dana.get("/trash/").content.decode()
    assert "Joanne Smith" in page
    assert "John Smith" in page
    form = keyed({})
    assert [dana.post("/trash/L-0001/restore/", form)["Location"] for _ in range(2)] == ["/leads/L-0001/"] * 2
    assert dana.post("/trash/L-0001/restore/", keyed({})).status_code == 404
    assert dana.get("/leads/L-0001/").status_code == 200


def test_an_archived_client_leaves_the_list_and_comes_back(lone_ridge: Cast, records: dict[str, str]) -> None:
    dana = browser_of(lone_ridge)
    assert dana.post("/clients/C-0001/archive/", keyed({})).status_code == 303
    assert "John Smith" not in dana.get("/clients/").content.decode()
    assert "John Smith" in dana.get("/clients/?archived=1").content.decode()
    assert dana.post("/clients/C-0001/archive/", keyed({"back": "1"})).status_code == 303
    assert "John Smith" in dana.get("/clients/").content.decode()


# Gated deeds: the buttons ask at the gate


def test_delete_and_convert_lead_to_a_card_and_do_nothing_by_themselves(
    lone_ridge: Cast, records: dict[str, str]
) -> None:
    dana = browser_of(lone_ridge)
    for url, tool in (("/leads/L-0001/", "delete_lead"), ("/leads/L-0001/", "convert_lead_to_client"),
                      ("/clients/C-0001/", "delete_client")):  # fmt: skip
        page = dana.get(url).content.decode()
        forms = re.findall(rf'<form[^>]*action="(/c/desk/propose/{tool}/)"[^>]*>(.*?)</form>', page, re.S)
        assert len(forms) == 1, tool
        action, body = forms[0]
        fields = dict(re.findall(r'<input type="hidden" name="([a-z_]+)" value="([^"]*)"', body))
        answer = dana.post(action, fields)
        assert answer.status_code == 303, answer.content
        assert "/actions/" in answer["Location"], (tool, answer["Location"])
        assert dana.get(answer["Location"]).status_code == 200
    with lone_ridge.scope():
        assert (Lead.objects.get().deleted_at, Lead.objects.get().stage) == (None, "new")
        assert Client.objects.get().deleted_at is None


def test_h26_a_client_with_documents_has_no_delete_button(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        send(lone_ridge, cedar_bend(lone_ridge))
    page = browser_of(lone_ridge).get("/clients/C-0001/").content.decode()
    assert "delete_client" not in page
    assert "$10,157.64" in page


def test_a_lead_like_a_client_offers_to_join_it(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        john_smith(lone_ridge)
        joanne_smith(lone_ridge, name="JOHN  SMITH")
    dana = browser_of(lone_ridge)
    page = dana.get("/leads/L-0001/").content.decode()
    assert '<option value="C-0001">C-0001 · John Smith · Austin · john.smith@example.com</option>' in page
    as_new = keyed({"lead_ref": "L-0001", "as_new": "true", "back": "/leads/L-0001/"})
    answer = dana.post("/c/desk/propose/convert_lead_to_client/", as_new)
    assert "/actions/" in answer["Location"]


@pytest.mark.parametrize("back", ["leads", "\ufffd", "//elsewhere.example/", "https://elsewhere.example/"])
def test_a_refused_button_leads_to_a_page_of_ours_or_home(lone_ridge: Cast, back: str) -> None:
    answer = browser_of(lone_ridge).post("/c/desk/propose/delete_lead/", {"lead_ref": "L-0001", "back": back})
    assert (answer.status_code, answer["Location"]) == (303, "/")


# Long lists


def test_pages_follow_by_key_and_show_each_row_once(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        for number in range(35):
            joanne_smith(lone_ridge, name=f"Lead {number:02d}")
    dana = browser_of(lone_ridge)
    first = dana.get("/leads/?q=lead").content.decode()
    older = re.search(r'href="(\?[^"]*after=[^"]*)"', first)
    assert older
    second = dana.get("/leads/" + older[1].replace("&amp;", "&")).content.decode()
    seen = re.findall(r"Lead \d\d", first) + re.findall(r"Lead \d\d", second)
    assert sorted(seen) == [f"Lead {number:02d}" for number in range(35)]


def test_thirty_rows_ask_no_more_queries_than_one(lone_ridge: Cast) -> None:
    dana = browser_of(lone_ridge)

    def queries(url: str) -> int:
        with counted() as asked:
            assert dana.get(url).status_code == 200
        return len(asked)

    urls = ("/leads/", "/clients/", "/leads/L-0001/", "/clients/C-0001/", "/trash/", "/search/?q=smith")
    with lone_ridge.scope():
        _grow(lone_ridge, 0)
    queries("/leads/")
    few = [queries(url) for url in urls]
    with lone_ridge.scope():
        for number in range(1, 30):
            _grow(lone_ridge, number)
    many = [queries(url) for url in urls]
    assert many == few


def _grow(cast: Cast, number: int) -> None:
    """One more of everything that the pages list."""
    john_smith(cast, name=f"Smith {number}", email=f"smith{number}@example.com")
    joanne_smith(cast, name=f"Lead Smith {number}", owner=cast.alex)
    client, lead = Client.objects.get(ref="C-0001"), Lead.objects.get(ref="L-0001")
    add_site(client, by=cast.owner, address={"line1": f"{number} Elm St", "city": "Hutto"})
    for party in (client, lead):
        add_note(party, by=cast.owner, body=f"Note {number}")
        create_quote(party, by=cast.owner, title=f"Roof {number}", lines=lines_of("10.00"))
    delete_lead(joanne_smith(cast, name=f"Gone {number}"), by=cast.owner)


def test_a_converted_lead_shows_its_client(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        convert_lead_to_client(joanne_smith(lone_ridge), by=lone_ridge.owner)
    page = browser_of(lone_ridge).get("/leads/L-0001/").content.decode()
    assert '<a href="/clients/C-0001/">Joanne Smith (C-0001)</a>' in page
    assert "/leads/L-0001/edit/" not in page
