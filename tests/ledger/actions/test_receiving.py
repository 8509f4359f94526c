"""Messages that came in: kept as they were written, from whomever they came."""

import pytest
from django.db import DatabaseError, transaction
from django.test import Client as Browser

from ledger.actions.receiving import receive_message
from ledger.models import AuditEvent, Channel, ClientMessage
from tests.cast import Cast, joanne_smith, john_smith


def browser_of(cast: Cast) -> Browser:
    browser = Browser(raise_request_exception=False)
    browser.force_login(cast.owner.user)
    return browser


def test_a_clients_message_is_kept_and_recorded(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        john = john_smith(lone_ridge)
        message = receive_message(
            john, by=None, channel=Channel.EMAIL, sender="john.smith@example.com", subject="Leak", body="It\nleaks."
        )
        message.refresh_from_db()
        assert (message.direction, message.status, message.party, message.body) == (
            "in",
            "received",
            john,
            "It\nleaks.",
        )
        assert (message.ref, message.to) == ("M-0001", [lone_ridge.company.email])
        assert AuditEvent.objects.filter(kind="message.received").count() == 1


def test_a_lead_and_somebody_unknown_write_too(lone_ridge: Cast, strangers: Cast) -> None:
    with lone_ridge.scope():
        lead = joanne_smith(lone_ridge)
        told = receive_message(lead, by=None, channel=Channel.SMS, sender=lead.phone, body="When?")
        bank = receive_message(
            None, by=None, channel=Channel.EMAIL, sender="billing@vendor.example", body="Our bank <b>changed</b>."
        )
        assert (told.lead, told.client, bank.party) == (lead, None, None)
    page = browser_of(lone_ridge).get(f"/outbox/{bank.ref}/")
    assert page.status_code == 200
    assert "billing@vendor.example" in page.content.decode()
    assert "Our bank &lt;b&gt;changed&lt;/b&gt;." in page.content.decode()
    assert bank.ref not in browser_of(lone_ridge).get("/outbox/").content.decode()
    assert browser_of(strangers).get(f"/outbox/{bank.ref}/").status_code == 404


def test_what_was_received_never_changes(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        message = receive_message(None, by=None, channel=Channel.EMAIL, sender="a@example.com", body="Pay me.")
        for changes in ({"body": "Pay us."}, {"sender": "b@example.com"}, {"status": "sent"}):
            with pytest.raises(DatabaseError), transaction.atomic():
                ClientMessage.objects.filter(pk=message.pk).update(**changes)
