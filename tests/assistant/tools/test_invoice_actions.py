"""Sending an invoice from a card to a receipt: the number comes at execution, what was shown goes out (H15, H16)."""

import json
from decimal import Decimal
from email import message_from_string

import pytest
import time_machine

from assistant.gate import reconciliation
from assistant.tools import invoice_actions
from ledger.actions.clients import update_client
from ledger.actions.invoice_issuing import issue_invoice
from ledger.errors import DomainError
from ledger.models import Client, ClientMessage, Invoice, SandboxDelivery, Sequence, StoredDocument
from ledger.providers.sandbox import Mode, set_knob
from tests.bills import draft, fresh, issued, paid
from tests.cast import Cast, john_smith
from tests.desks import desk_of, fact, marks, warned

TAX = Decimal("8.25")


def test_the_card_shows_the_facts_and_that_the_number_comes_later(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        draft(lone_ridge, "100.00", tax=TAX, po_number="PO-7")
    action = desk_of(lone_ridge).propose("send_invoice", invoice_ref="D-0001", channel="email")
    assert (action.level, action.operation, action.undo_seconds) == (2, "external", 10)
    assert (fact(action, "draft"), fact(action, "number")) == ("D-0001", "INV-0001")
    assert marks(action, "number") == ["assigned_on_confirm"]
    assert fact(action, "total") == {"cents": 10_825, "currency": "USD"}
    assert fact(action, "tax") == {"cents": 825, "currency": "USD"}
    assert (fact(action, "client"), fact(action, "recipient")) == ("John Smith, Austin", "john.smith@example.com")
    assert fact(action, "po_number") == "PO-7"
    assert "INV-····" in fact(action, "subject")
    assert "Invoice INV-····: $108.25 in total, due by" in fact(action, "message")
    assert [(target["kind"], target["version"]) for target in action.targets] == [("invoice", 1), ("client", 1)]
    assert action.summary == (
        "Issue and send invoice D-0001, “Leak repair”, for $108.25 to John Smith (john.smith@example.com)."
    )
    assert action.preview["document"]["sha256"] == fact(action, "sha256")
    with lone_ridge.scope():
        assert Invoice.objects.get().status == "draft"
        assert not Sequence.objects.filter(kind="invoice").exists()
        assert not ClientMessage.objects.exists()


def test_confirming_issues_and_sends_what_was_shown(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = draft(lone_ridge, "100.00", tax=TAX)
    desk = desk_of(lone_ridge)
    action = desk.run(desk.propose("send_invoice", invoice_ref="D-0001", channel="email", message="As agreed."))
    assert (action.status, action.failure) == ("executed", None)
    with lone_ridge.scope():
        invoice, message, delivery = fresh(invoice), ClientMessage.objects.get(), SandboxDelivery.objects.get()
        assert (invoice.ref, invoice.status, invoice.draft_ref) == ("INV-0001", "sent", "D-0001")
        assert (delivery.key, delivery.requests, message.key) == (str(action.pk), 1, action.pk)
        assert (message.kind, message.status, message.invoice_id) == ("invoice", "sent", invoice.pk)
        sent = delivery.payload
        assert sent["to"] == ["john.smith@example.com"]
        assert sent["subject"] == fact(action, "subject").replace("INV-····", "INV-0001")
        assert sent["text"] == fact(action, "message").replace("INV-····", "INV-0001")
        assert "As agreed." in sent["text"]
        [attached] = sent["attachments"]
        assert (attached["name"], attached["sha256"]) == ("INV-0001.pdf", action.receipt["facts"]["sha256"])
        document = StoredDocument.objects.get(pk=invoice.document_id)
        assert document.sha256 == attached["sha256"] != fact(action, "sha256")
        parts = {part.get_content_type(): part for part in message_from_string(delivery.raw).walk()}
        assert parts["application/pdf"].get_payload(decode=True) == bytes(document.content)
    assert action.receipt["text"].startswith("Invoice INV-0001 was issued and sent to john.smith@example.com")


def test_en12_whoever_executes_first_takes_the_number(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        draft(lone_ridge, "100.00")
        draft(lone_ridge, "200.00", client=john_smith(lone_ridge, name="Ann Other", email="ann@example.com"))
    desk = desk_of(lone_ridge)
    first = desk.propose("send_invoice", invoice_ref="D-0001", channel="email")
    second = desk.propose("send_invoice", invoice_ref="D-0002", channel="email")
    assert (fact(first, "number"), fact(second, "number")) == ("INV-0001", "INV-0001")
    assert desk.run(second).receipt["facts"]["invoice"] == "INV-0001"
    assert desk.run(first).receipt["facts"]["invoice"] == "INV-0002"


def test_in_the_clients_language(aurora: Cast) -> None:
    with aurora.scope():
        client = john_smith(aurora, name="João Silva", phone="+5519991230101", language="pt-BR")
        draft(aurora, "2086.00", client=client, title="Reparo de vazamento")
    action = desk_of(aurora, "pt-br").propose("send_invoice", invoice_ref="D-0001", channel="email")
    assert fact(action, "number") == "FAT-0001"
    assert "R$ 2.086,00" in fact(action, "message")
    assert action.summary.startswith("Emitir e enviar a fatura D-0001, “Reparo de vazamento”, de R$\u00a02.086,00,")


def test_h16_the_mail_is_refused_but_the_invoice_keeps_its_number(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = draft(lone_ridge, "100.00")
    set_knob(lone_ridge.tenant_id, "mail", Mode.REFUSE, remaining=1)
    desk = desk_of(lone_ridge)
    action = desk.run(desk.propose("send_invoice", invoice_ref="D-0001", channel="email"))
    assert (action.status, action.failure["code"]) == ("failed", "MAIL_RECIPIENT_REFUSED")
    assert action.failure["sentence"].startswith("INV-0001 was issued and keeps its number, but it was not sent.")
    with lone_ridge.scope():
        assert (fresh(invoice).ref, fresh(invoice).status) == ("INV-0001", "issued")
        assert ClientMessage.objects.get().status == "failed"
        assert issued(lone_ridge, "1.00").ref == "INV-0002"
    again = desk.run(desk.propose("send_invoice", invoice_ref="INV-0001", channel="email"))
    assert again.status == "executed"
    with lone_ridge.scope():
        assert fresh(invoice).status == "sent"


def test_h16_a_pdf_that_cannot_be_made_issues_nothing(lone_ridge: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_paper) -> None:
        raise RuntimeError("no PDF today")

    with lone_ridge.scope():
        invoice = draft(lone_ridge, "100.00")
    desk = desk_of(lone_ridge)
    action = desk.propose("send_invoice", invoice_ref="D-0001", channel="email")
    monkeypatch.setattr("ledger.actions.invoice_issuing.invoice_pdf", broken)
    action = desk.run(action)
    assert (action.status, action.failure["code"]) == ("failed", "ERROR")
    with lone_ridge.scope():
        assert (fresh(invoice).status, fresh(invoice).number) == ("draft", None)
        assert not SandboxDelivery.objects.exists()
        assert not ClientMessage.objects.exists()


def test_a_final_pdf_that_cannot_be_made_is_a_clear_no(lone_ridge: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_ids) -> None:
        raise RuntimeError("no PDF today")

    with lone_ridge.scope():
        invoice = draft(lone_ridge, "100.00")
    monkeypatch.setattr(invoice_actions, "enclose_invoice", broken)
    desk = desk_of(lone_ridge)
    action = desk.run(desk.propose("send_invoice", invoice_ref="D-0001", channel="email"))
    assert (action.status, action.failure["code"]) == ("failed", "PDF_FAILED")
    with lone_ridge.scope():
        assert fresh(invoice).status == "issued"
        assert not SandboxDelivery.objects.exists()


def test_no_answer_is_doubt_that_the_providers_record_settles(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = draft(lone_ridge, "100.00")
    set_knob(lone_ridge.tenant_id, "mail", Mode.TIMEOUT_AFTER_ACCEPT, remaining=1)
    desk = desk_of(lone_ridge)
    action = desk.run(desk.propose("send_invoice", invoice_ref="D-0001", channel="email"))
    with lone_ridge.scope():
        assert (action.status, fresh(invoice).status, ClientMessage.objects.get().status) == (
            "in_doubt",
            "issued",
            "unknown",
        )
    reconciliation.reconcile(lone_ridge.tenant_id, action.pk)
    action = desk.fresh(action)
    with lone_ridge.scope():
        assert (action.status, fresh(invoice).status) == ("executed", "sent")
        assert SandboxDelivery.objects.get().requests == 1
    assert action.receipt["facts"]["sha256"]


def test_an_earlier_message_in_doubt_is_said_on_the_next_card(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        draft(lone_ridge, "100.00")
    set_knob(lone_ridge.tenant_id, "mail", Mode.TIMEOUT_BEFORE, remaining=1)
    desk = desk_of(lone_ridge)
    desk.run(desk.propose("send_invoice", invoice_ref="D-0001", channel="email"))
    with pytest.raises(DomainError) as refused:
        desk.propose("send_invoice", invoice_ref="INV-0001", channel="email")
    assert refused.value.code == "ALREADY_SENT"
    with lone_ridge.scope():
        ClientMessage.objects.update(reserved_at="2026-01-01T00:00:00Z")
    assert "send_invoice_uncertain" in warned(desk.propose("send_invoice", invoice_ref="INV-0001", channel="email"))


def test_the_same_address_is_not_written_to_twice_within_ten_minutes(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        draft(lone_ridge, "100.00")
    desk = desk_of(lone_ridge)
    desk.run(desk.propose("send_invoice", invoice_ref="D-0001", channel="email"))
    with pytest.raises(DomainError) as refused:
        desk.propose("send_invoice", invoice_ref="INV-0001", channel="email", to="John.Smith@example.com")
    assert refused.value.code == "ALREADY_SENT"
    elsewhere = desk.propose("send_invoice", invoice_ref="INV-0001", channel="email", to="books@example.com")
    assert "address_not_on_record" in warned(elsewhere)
    assert "stranger" in elsewhere.effects


def test_a_draft_that_changed_after_the_click_is_not_issued(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = draft(lone_ridge, "100.00")
    desk = desk_of(lone_ridge)
    action = desk.propose("send_invoice", invoice_ref="D-0001", channel="email")
    desk.confirm(action)
    with lone_ridge.scope():
        update_client(Client.objects.get(), by=lone_ridge.dana, expected_version=1, changes={"name": "Jon Smith"})
    action = desk.execute(action)
    assert (action.status, action.failure["code"]) == ("failed", "CHANGED")
    with lone_ridge.scope():
        assert fresh(invoice).number is None


def test_a_card_from_yesterday_is_not_issued_today(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = draft(lone_ridge, "100.00")
    desk = desk_of(lone_ridge)
    action = desk.propose("send_invoice", invoice_ref="D-0001", channel="email")
    desk.confirm(action)
    with time_machine.travel(action.created_at.replace(year=action.created_at.year + 1), tick=True):
        action = desk.execute(action)
    assert (action.status, action.failure["code"]) == ("failed", "DAY_CHANGED")
    with lone_ridge.scope():
        assert fresh(invoice).number is None


def test_an_invoice_that_is_part_paid_goes_out_with_what_is_left(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = issued(lone_ridge, "100.00")
        paid(lone_ridge, 4_000, invoice)
    desk = desk_of(lone_ridge)
    action = desk.propose("send_invoice", invoice_ref="INV-0001", channel="email")
    assert fact(action, "balance") == {"cents": 6_000, "currency": "USD"}
    assert "$100.00 in total, of which $60.00 are left to pay" in fact(action, "message")
    desk.run(action)
    with lone_ridge.scope():
        assert fresh(invoice).status == "partially_paid"
        assert fresh(invoice).sent_at is not None


@pytest.mark.parametrize("channel", ["sms", "whatsapp"])
def test_only_mail_for_now(lone_ridge: Cast, channel: str) -> None:
    with lone_ridge.scope():
        draft(lone_ridge, "100.00")
    with pytest.raises(DomainError) as refused:
        desk_of(lone_ridge).propose("send_invoice", invoice_ref="D-0001", channel=channel)
    assert refused.value.code == "CHANNEL_UNAVAILABLE"


def test_words_that_name_another_invoice_ask_which_one_is_meant(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        draft(lone_ridge, "100.00", title="Gutters")
        draft(lone_ridge, "200.00", title="Chimney flashing")
    with pytest.raises(DomainError) as refused:
        desk_of(lone_ridge).propose(
            "send_invoice", invoice_ref="D-0001", channel="email", subject_hint="the chimney flashing invoice"
        )
    assert refused.value.code == "SUBJECT_UNCLEAR"


def test_figures_that_the_invoice_does_not_have_are_named(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        draft(lone_ridge, "100.00")
    action = desk_of(lone_ridge).propose(
        "send_invoice", invoice_ref="D-0001", channel="email", message="Please pay $90.00 of the $100.00."
    )
    [phrase] = [one for one in action.preview["warnings"] if one["code"] == "figures_not_on_record"]
    assert phrase["params"]["figures"] == "$90.00"


def test_the_place_of_the_number_cannot_be_written_by_anybody(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        draft(lone_ridge, "100.00", title="Roof [[number]]")
    desk = desk_of(lone_ridge)
    action = desk.run(desk.propose("send_invoice", invoice_ref="D-0001", channel="email", message="[[number]] hello"))
    with lone_ridge.scope():
        sent = SandboxDelivery.objects.get().payload
        assert sent["text"].count("INV-0001") == 1
        assert "[[number]]" not in sent["text"] + sent["subject"] + fact(action, "message")


def test_the_same_proposal_is_the_same_card(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        draft(lone_ridge, "100.00")
    desk = desk_of(lone_ridge)
    cards = [desk.propose("send_invoice", invoice_ref="D-0001", channel="email") for _ in range(2)]
    assert cards[0].pk == cards[1].pk


def test_a_draft_is_deleted_after_the_card(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        invoice = draft(lone_ridge, "100.00")
    desk = desk_of(lone_ridge)
    action = desk.propose("delete_invoice", invoice_ref="D-0001", subject_hint="Smith's leak repair")
    assert (action.level, action.operation, fact(action, "draft")) == (2, "internal", "D-0001")
    assert [phrase["code"] for phrase in action.preview["consequences"]] == ["restorable_until"]
    action = desk.run(action)
    assert action.status == "executed"
    with lone_ridge.scope():
        assert fresh(invoice).deleted_at is not None


def test_an_issued_invoice_cannot_be_put_up_for_deletion(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        issue_invoice(draft(lone_ridge, "100.00"), by=lone_ridge.dana)
    with pytest.raises(DomainError) as refused:
        desk_of(lone_ridge).propose("delete_invoice", invoice_ref="INV-0001", subject_hint="Smith")
    assert refused.value.code == "WRONG_STATUS"


def test_h26_a_client_with_invoices_is_not_put_up_for_deletion(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        paid(lone_ridge, 10_000, issued(lone_ridge, "100.00"))
        issued(lone_ridge, "45.50")
    with pytest.raises(DomainError) as refused:
        desk_of(lone_ridge).propose("delete_client", client_ref="C-0001", subject_hint="client Smith")
    assert (refused.value.code, refused.value.data["offer"]) == ("HAS_ISSUED_DOCUMENTS", "archive_client")
    assert "2 invoices (1 open, $45.50)" in refused.value.sentence


def test_mallory_sends_and_deletes_nothing(lone_ridge: Cast, strangers: Cast) -> None:
    with lone_ridge.scope():
        draft(lone_ridge, "100.00")
    desk = desk_of(strangers)
    for name, more in (("send_invoice", {"channel": "email"}), ("delete_invoice", {"subject_hint": "Smith"})):
        with pytest.raises(DomainError) as refused:
            desk.propose(name, invoice_ref="D-0001", **more)
        assert refused.value.code == "NOT_FOUND"


def test_a_bill_that_cannot_print_a_character_is_warned_about(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        draft(lone_ridge, "100.00", po_number="注文-7")
    action = desk_of(lone_ridge).propose("send_invoice", invoice_ref="D-0001", channel="email")
    assert warned(action) == {"document_incomplete"}


def test_h46_the_address_a_person_wrote_gets_the_only_mail(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        draft(lone_ridge, "100.00", client=john_smith(lone_ridge, email="a@example.com"))
    desk = desk_of(lone_ridge)
    old = desk.propose("send_invoice", invoice_ref="D-0001", channel="email", to="a@example.com")
    new = desk.edit(old, to="b@example.com").action
    assert (fact(new, "recipient"), marks(new, "recipient")[:1]) == ("b@example.com", ["not_on_record"])
    assert desk.run(new).status == "executed"
    assert (desk.fresh(old).status, json.loads(desk.fresh(old).arguments)["to"]) == ("superseded", "a@example.com")
    assert "b@example.com" in desk.fresh(new).receipt["text"]
    with lone_ridge.scope():
        assert [delivery.payload["to"] for delivery in SandboxDelivery.objects.all()] == [["b@example.com"]]
