"""Every gated tool of the product under a worker that dies each time; row 20 of the fault matrix.

bin/test runs one tool of each kind, bin/chaos all of them (AVAL_CHAOS_LOOPS).
"""

import os
from typing import Any

import pytest
from django.db.models.functions import Now

from assistant.models import PendingAction, Status
from assistant.tools import registry
from assistant.tools.registry import Operation
from ledger import dates
from ledger.models import Due, SandboxDelivery
from tests.assistant.faults.ground import Ground, assert_all_holds, hurry, until, wait_for
from tests.assistant.faults.test_executing import again
from tests.bills import charged, draft, issued
from tests.cast import joanne_smith, john_smith, lone_ridge
from tests.desks import Desk, desk_of
from tests.offers import cedar_bend

pytestmark = [pytest.mark.processes, pytest.mark.timeout(120)]

CALLS: dict[str, dict[str, Any]] = {
    "convert_lead_to_client": {"lead_ref": "L-0001", "as_new": True},
    "delete_client": {"client_ref": "C-0002", "subject_hint": "Ann Lee"},
    "delete_invoice": {"invoice_ref": "D-0001", "subject_hint": "John Smith"},
    "delete_lead": {"lead_ref": "L-0001", "subject_hint": "Joanne Smith"},
    "delete_quote": {"quote_ref": "Q-0001", "subject_hint": "John Smith"},
    "record_payment": {"client_ref": "C-0001", "amount": "100.00", "method": "check"},
    "refund_payment": {"payment_ref": "PAY-0001", "amount": "350.00", "reason": "duplicate", "note": "paid twice"},
    "send_email": {"party_ref": "C-0001", "subject": "Thursday", "body": "We come on Thursday."},
    "send_invoice": {"invoice_ref": "INV-0002", "channel": "email"},
    "send_quote": {"quote_ref": "Q-0001", "channel": "email"},
}
"""What each tool is asked in the office below."""
STRONG: dict[str, Any] = {"fresh_login": True, "held": True, "reason": "agreed"}
TOOLS = sorted(CALLS) if os.environ.get("AVAL_CHAOS_LOOPS") else ["delete_lead", "send_quote"]
DEATHS = 6


def of_the_product() -> list[str]:
    return sorted(
        made.name
        for made in registry.TOOLS.values()
        if made.gated and made.prepare is not None and not made.prepare.__module__.startswith("tests.")
    )


def test_every_gated_tool_of_the_product_has_a_crash_loop():
    assert sorted(CALLS) == of_the_product()


def office() -> Desk:
    """A client, a lead, a quote, a draft, an invoice that was paid by card and one that was not."""
    cast = lone_ridge()
    with cast.scope():
        client = john_smith(cast)
        john_smith(cast, name="Ann Lee", email="ann.lee@example.com", phone="+15125550199")
        joanne_smith(cast)
        cedar_bend(cast, client)
        draft(cast, "75.00", client=client)
        paid = issued(cast, "1240.00", client=client)
        charged(cast, paid.total_cents, paid)
        issued(cast, "200.00", client=client)
    return desk_of(cast)


def ask(desk: Desk, tool: str) -> PendingAction:
    today = {"received_on": str(dates.today(desk.cast.company.timezone))}
    return desk.propose(tool, **CALLS[tool] | (today if tool == "record_payment" else {}))


def confirmed(desk: Desk, ground: Ground, tool: str, *points: str) -> PendingAction:
    """A card of the tool whose execution kills at these points, confirmed and due now."""
    action = ask(desk, tool)
    for point in points:
        ground.kills.loop(point, action.pk)
    ground.running("worker")
    desk.confirm(action, **STRONG)
    with desk.cast.scope():
        PendingAction.objects.filter(pk=action.pk).update(execute_after=Now())
        Due.objects.filter(object_id=action.pk).update(run_at=Now(), lease=None)
    return action


@pytest.mark.parametrize("tool", [tool for tool in TOOLS if registry.TOOLS[tool].operation == Operation.INTERNAL])
def test_an_internal_tool_whose_worker_dies_each_time_ends_as_not_done(ground: Ground, tool: str):
    desk = office()
    action = confirmed(desk, ground, tool, "record-")
    for _ in range(DEATHS):
        again(desk.cast, action)
    until(desk, action, statuses=(Status.FAILED,), seconds=60)
    assert (desk.fresh(action).failure["code"], ground.kills.deaths("record-") >= 5) == ("GAVE_UP", True)
    assert_all_holds(desk.cast, ground.provider)
    assert desk.run(ask(desk, tool), **STRONG).status == Status.EXECUTED, "what was given up left nothing in the way"
    assert_all_holds(desk.cast, ground.provider)


@pytest.mark.parametrize(("point", "requests"), [("claim+", 0), ("call+", 1)])
@pytest.mark.parametrize("tool", [tool for tool in TOOLS if registry.TOOLS[tool].operation == Operation.EXTERNAL])
def test_an_external_tool_whose_worker_dies_each_time_asks_its_provider_at_most_once(
    ground: Ground, tool: str, point: str, requests: int
):
    desk = office()
    action = confirmed(desk, ground, tool, point)
    until(desk, action, statuses=(Status.EXECUTING,))
    wait_for(lambda: ground.kills.deaths(point) == 1, ground=ground)
    for _ in range(DEATHS):
        again(desk.cast, action)
    hurry(desk.cast, action)
    end = Status.EXECUTED if requests else Status.IN_DOUBT
    assert until(desk, action, statuses=(end,)) == [end]
    assert ground.kills.deaths(point) == 1
    with desk.cast.scope():
        assert [row.requests for row in SandboxDelivery.objects.filter(key=str(action.pk))] == [1] * requests
    assert_all_holds(desk.cast, ground.provider)
