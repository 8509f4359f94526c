"""An office with people, a client and a conversation, for tests of the gate."""

import json
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db.models import F

from assistant.gate import approvals, execution, proposals, renewing
from assistant.gate.approvals import Answer, Click
from assistant.models import Conversation, PendingAction
from assistant.tools import registry
from assistant.tools.registry import Context
from ledger import jobs, tenancy
from ledger.models import Access, Client, Company, Membership, SettingsVersion, User
from tests.support.provider import FileProvider


@dataclass
class Office:
    """One company of the test's own. `dana` owns it, `alex` sells, `sam` is the second approver."""

    company: Company
    dana: Membership
    alex: Membership
    sam: Membership
    client: Client
    conversation: Conversation

    def scope(self) -> AbstractContextManager[None]:
        return tenancy.tenant(self.company.pk)

    def context(self, member: Membership | None = None) -> Context:
        return Context(
            member=member or self.dana,
            company=self.company,
            language="en",
            conversation_id=self.conversation.pk,
        )

    def propose(self, tool: str, *, by: Membership | None = None, **arguments: Any) -> PendingAction:
        made = registry.TOOLS[tool]
        text = json.dumps({"client_ref": self.client.ref} | arguments)
        with self.scope():
            ctx = self.context(by)
            return proposals.propose(ctx, made, text, conversation_id=self.conversation.pk).action

    def click(self, action: PendingAction, *, by: Membership | None = None, **more: Any) -> Click:
        own: dict[str, Any] = {
            "action_id": action.pk,
            "conversation_id": action.conversation_id,
            "by": by or self.dana,
            "shown_hash": action.digest,
        }
        return Click(**own | more)

    def confirm(self, action: PendingAction, **more: Any) -> Answer:
        with self.scope():
            return approvals.confirm(self.click(action, **more))

    def reject(self, action: PendingAction, **more: Any) -> Answer:
        with self.scope():
            return approvals.reject(self.click(action, **{"reason": "not now"} | more))

    def cancel(self, action: PendingAction, **more: Any) -> Answer:
        with self.scope():
            return approvals.cancel(self.click(action, **more))

    def undo(self, action: PendingAction, **more: Any) -> Answer:
        with self.scope():
            return approvals.undo(self.click(action, **more))

    def edit(self, action: PendingAction, **fields: Any) -> PendingAction:
        """The card that takes this one's place."""
        made = registry.TOOLS[action.tool]
        with self.scope():
            return renewing.edit(action, made, by=self.dana, fields=fields, shown_hash=action.digest)

    def execute(self, action: PendingAction) -> PendingAction:
        execution.execute(self.company.pk, action.pk)
        return self.fresh(action)

    def fresh(self, action: PendingAction) -> PendingAction:
        with self.scope():
            return PendingAction.objects.get(pk=action.pk)

    def age(self, action: PendingAction, by: timedelta) -> None:
        """Let the action's deadline be so much earlier."""
        with self.scope():
            PendingAction.objects.filter(pk=action.pk).update(expires_at=F("expires_at") - by)

    def run_due(self, kind: str, action: PendingAction) -> None:
        jobs.run(kind, action.pk, self.company.pk)


def make_office() -> Office:
    slug = f"office-{uuid.uuid4().hex[:10]}"
    company_id = tenancy.new_id()
    with tenancy.tenant(company_id):
        company = Company.objects.create(
            id=company_id, slug=slug, name="Lone Ridge", country="US", currency="USD", email="office@ridge.example"
        )
        people = {}
        for number, (name, role) in enumerate((("dana", "owner"), ("alex", "sales"), ("sam", "admin")), start=1):
            user = User.objects.create(email=f"{name}@{slug}.example")
            Access.objects.create(user=user, tenant=company)
            people[name] = Membership.objects.create(
                user=user, ref=f"U-{number:02d}", name=name.title(), role=role, approve_l3=role != "sales"
            )
        SettingsVersion.objects.create(number=1, values={})
        client = Client.objects.create(
            ref="C-0001", kind="person", name="John Smith", name_key="johnsmith", language="en-US"
        )
        conversation = Conversation.objects.create(starter=people["dana"])
    return Office(company, **people, client=client, conversation=conversation)


@pytest.fixture
def office() -> Office:
    return make_office()


@pytest.fixture
def stranger() -> Office:
    return make_office()


@pytest.fixture
def provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FileProvider]:
    monkeypatch.setenv("AVAL_TEST_PROVIDER", str(tmp_path / "provider"))
    yield FileProvider()
