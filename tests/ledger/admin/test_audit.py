"""The audit chain as staff see it (R12)."""

from django.db import connection

from ledger import audit
from ledger.models import AuditEvent, AuditLink, Client
from tests import operators
from tests.cast import Cast
from tests.operators import events, text, url

# The chain


def test_the_state_of_the_chain_is_shown_and_verified(stocked: Cast) -> None:
    user = operators.staff()
    browser = operators.inside(stocked.company, user)
    with stocked.scope():
        whole = audit.verify()
    page = text(browser.get("/admin/chain/"))
    assert f"<dd>{whole.length}</dd>" in page
    assert "never" in page
    response = browser.post("/admin/chain/")
    assert (response.status_code, response["Location"]) == (302, "/admin/chain/")
    page = text(browser.get("/admin/chain/"))
    assert page.count(f"The chain is whole: {whole.length} links, each as it was made.") == 2
    (verified,) = events(stocked, "audit.verified")
    assert verified["detail"]["operator"]["email"] == user.email
    assert (verified["detail"]["length"], verified["detail"]["bad_seq"]) == (whole.length, None)


def test_a_broken_chain_is_said_to_be_broken(stocked: Cast) -> None:
    with stocked.scope(), connection.cursor() as cursor:
        event = AuditEvent.objects.get(kind="client.created")
        seq = AuditLink.objects.get(event=event).seq
        cursor.execute("ALTER TABLE ledger_auditevent DISABLE TRIGGER USER")
        cursor.execute("UPDATE ledger_auditevent SET body = body || ' ' WHERE id = %s", [event.pk])
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE ledger_auditevent ENABLE TRIGGER USER")
    browser = operators.inside(stocked.company)
    page = text(browser.post("/admin/chain/", follow=True))
    assert page.count(f"The chain breaks at link {seq}: an event is not what its link was made of.") == 2


def test_events_are_filtered_by_kind_by_subject_and_by_door(stocked: Cast) -> None:
    browser = operators.inside(stocked.company)
    address = url(AuditEvent, "changelist")
    with stocked.scope():
        client = Client.objects.get()
    assert "quote.created" in text(browser.get(address, {"about": "quote"}))
    assert "client.created" not in text(browser.get(address, {"about": "quote"}))
    assert "client.created" in text(browser.get(address, {"q": "client.cr"}))
    assert "quote.created" not in text(browser.get(address, {"q": "client.cr"}))
    assert "client.created" in text(browser.get(address, {"q": str(client.pk)}))
    assert "quote.created" not in text(browser.get(address, {"q": str(client.pk)}))
    assert "admin.entered" in text(browser.get(address, {"door": "admin"}))
    assert "client.created" not in text(browser.get(address, {"door": "admin"}))
