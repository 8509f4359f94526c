"""Deeds on one client at once wait for each other and never in a circle."""

import threading
import uuid
from collections.abc import Callable
from decimal import Decimal

from django.db import connection

from ledger import tenancy
from ledger.actions.clients import update_client
from ledger.actions.invoice_quotes import create_invoice_of_quote
from ledger.actions.invoice_sending import FrozenInvoice, plan_invoice_send, reserve_invoice_send
from ledger.actions.invoices import create_invoice, invoice_of
from ledger.actions.messages import Mailing, draft_message
from ledger.actions.notes import add_note
from ledger.models import Client, ClientMessage, Invoice, Payment
from tests.bills import accepted, draft, fresh, issued, paid, the_client
from tests.cast import Cast
from tests.offers import cedar_bend, lines_of

ROUNDS = 4


def send(cast: Cast, ref: str) -> None:
    invoice = invoice_of(ref, Invoice.objects.select_related("client"))
    plan = plan_invoice_send(invoice, by=cast.owner)
    mailing = Mailing(plan.letter, to=tuple(one.address for one in plan.recipients.to))
    frozen = FrozenInvoice(mailing, plan.days, plan.content_hash, invoice.version)
    reserve_invoice_send(invoice, by=cast.owner, key=uuid.uuid4(), frozen=frozen)


def test_everything_at_once_on_one_client_comes_through(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        client = the_client(lone_ridge)
        open_one = issued(lone_ridge, "9000.00")
        drafts = [draft(lone_ridge, "10.00").ref for _ in range(ROUNDS)]
        quote = accepted(lone_ridge, cedar_bend(lone_ridge, client))
    percents = iter(range(1, ROUNDS + 1))
    by = lone_ridge.dana

    def rename(n: int) -> None:
        held = Client.objects.get(pk=client.pk)
        update_client(held, by=by, expected_version=None, changes={"tags": [f"t{n}"]})

    deeds: list[Callable[[int], object]] = [
        lambda n: send(lone_ridge, drafts[n]),
        lambda n: draft_message(client, by=by, channel="email", body="Hello"),
        lambda n: paid(lone_ridge, 100, open_one),
        lambda n: create_invoice(client, by=by, lines=lines_of("1.00")),
        lambda n: create_invoice_of_quote(quote, by=by, percent=Decimal(next(percents))),
        lambda n: add_note(client, by=by, body="A note"),
        rename,
    ]
    start, wrong = threading.Barrier(len(deeds)), []

    def work(deed: Callable[[int], object]) -> None:
        start.wait()
        for n in range(ROUNDS):
            try:
                with tenancy.tenant(lone_ridge.tenant_id):
                    deed(n)
            except Exception as error:  # every kind of failure is what this test is about
                wrong.append(error)
        connection.close()

    threads = [threading.Thread(target=work, args=(deed,)) for deed in deeds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    with lone_ridge.scope():
        assert Payment.objects.count() == ROUNDS
        assert ClientMessage.objects.filter(kind="invoice").count() == ROUNDS
        assert fresh(open_one).balance_cents == 900_000 - 100 * ROUNDS
        assert sorted(Invoice.objects.filter(serial__isnull=False).values_list("serial", flat=True)) == [1, 2, 3, 4, 5]
