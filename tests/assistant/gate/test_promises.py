"""What the receipt says is held against what the card promised (T82)."""

from dataclasses import replace

import pytest

from assistant.gate import promises
from assistant.models import Alert, Status
from assistant.tools import registry
from assistant.tools.registry import Receipt
from ledger.models import AuditEvent


@pytest.fixture
def declare(monkeypatch):
    """Give a tool other parts, under the version that its cards were made with."""

    def changed(name: str, **parts) -> None:
        made = registry.TOOLS[name]
        monkeypatch.setitem(registry.TOOLS, name, replace(made, **parts))

    return changed


def alerts(office) -> list[str]:
    with office.scope():
        return list(Alert.objects.filter(handled_at=None).values_list("kind", flat=True))


def test_T82_a_deed_that_did_not_do_what_it_promised_is_taken_back_and_reads_as_failed(office, declare):
    """The tool says that the client is in the trash afterwards; it renamed it and wrote a fine receipt."""
    declare("rename_client", promises={"client": "trashed"})
    action = office.propose("rename_client", name="Joe")
    office.confirm(action)
    done = office.execute(action)
    assert (done.status, done.failure["code"], done.receipt) == (Status.FAILED, "PROMISE", None)
    with office.scope():
        office.client.refresh_from_db()
        assert office.client.name == "John Smith"
    assert alerts(office) == ["mismatch"]


@pytest.mark.parametrize("facts", [{}, {"message": ""}, {"message": "MSG-9999"}, {"message": 7}])
def test_T82_what_a_provider_has_accepted_stands_and_people_are_alerted(office, provider, declare, facts):
    declare(
        "post_letter",
        promises={"message": "there"},
        record=lambda ctx, payload, reserved, result, key: Receipt("Posted.", facts=facts, provider_ref="R-1"),
    )
    action = office.propose("post_letter", text="Hi")
    office.confirm(action)
    assert office.execute(action).status == Status.EXECUTED
    assert alerts(office) == ["mismatch"]
    with office.scope():
        assert AuditEvent.objects.filter(kind="action.mismatch", subject_id=action.pk).count() == 1


def test_T82_another_amount_on_the_receipt_than_on_the_card_is_a_mismatch(office, provider, declare):
    wrong = {"amount": {"cents": 1_001, "currency": "USD"}}
    declare("pay_out", record=lambda ctx, payload, reserved, result, key: Receipt("Paid.", wrong, "R-1"))
    action = office.propose("pay_out", amount_cents=1_000)
    office.confirm(action, fresh_login=True, held=True, reason="agreed")
    assert office.execute(action).status == Status.EXECUTED
    assert alerts(office) == ["mismatch"]


@pytest.mark.parametrize("made", [made for made in registry.TOOLS.values() if made.gated], ids=lambda made: made.name)
def test_every_tool_of_the_product_promises_something_that_can_be_looked_up(made):
    assert made.promises or made.namespace == "tools"
    assert set(made.promises) <= set(promises.MODELS)
    assert set(made.promises.values()) <= {"there", "trashed"}
