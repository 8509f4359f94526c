"""Tools that exist in tests only: one of each kind, small enough to reason about."""

import os
import signal
import time
import uuid
from pathlib import Path
from typing import Any

from django.db import connection

from assistant.tools.effects import Effect
from assistant.tools.facts import Fact, Outside, Phrase, Preview, Target, money
from assistant.tools.registry import Context, Found, OnReject, Prepared, ReadResult, Receipt, ToolArguments, tool
from assistant.tools.vocabulary import LABELS, PHRASES
from ledger.errors import DomainError
from ledger.models import Client
from tests.support.provider import FileProvider

PHRASES |= {
    "test_title": "Do it to %(client)s?",
    "test_button": "Do it to %(client)s",
    "test_consequence": "It is done to %(client)s.",
}
LABELS |= {"amount": "Amount", "name": "Name"}


def find_client(ref: str) -> Client:
    client = Client.objects.filter(ref=ref, deleted_at=None).first()
    if client is None:
        raise DomainError("NOT_FOUND", "There is no such client.", ref=ref)
    return client


def preview(client: Client, *facts: Fact, typed: str = "") -> Preview:
    who = {"client": client.name}
    return Preview(
        title=Phrase("test_title", who),
        button=Phrase("test_button", who),
        facts=(Fact("client", "text", client.name), *facts),
        consequences=(Phrase("test_consequence", who),),
        typed=typed,
    )


def target(client: Client) -> Target:
    return Target("client", str(client.pk), client.version)


@tool(label="Look at a client", permission="view_records", effects=())
class LookAtClient:
    """Read one client."""

    class Arguments(ToolArguments):
        client_ref: str

    def run(ctx: Context, arguments: Any) -> ReadResult:
        client = find_client(arguments.client_ref)
        outside = (Outside("client_notes", client.ref),) if client.tags == ["outside"] else ()
        return ReadResult({"ref": client.ref, "name": client.name}, outside=outside, touched=(client.ref,))


@tool(label="Tag a client", permission="update_client", effects=())
class TagClient:
    """Add a tag to a client: a write that needs no card."""

    class Arguments(ToolArguments):
        client_ref: str
        tag: str

    def run(ctx: Context, arguments: Any) -> dict[str, Any]:
        client = find_client(arguments.client_ref)
        client.tags = [*client.tags, arguments.tag]
        client.save(update_fields=["tags"])
        return {"ref": client.ref, "tags": client.tags}


@tool(label="Tag slowly", permission="update_client", effects=(), time_limit=1)
class TagSlowly:
    """Add a tag after some seconds, asleep here or in the database: for what takes too long or is killed meanwhile."""

    class Arguments(ToolArguments):
        client_ref: str
        tag: str
        seconds: float = 0
        in_database: float = 0
        die: bool = False

    def run(ctx: Context, arguments: Any) -> dict[str, Any]:
        client = find_client(arguments.client_ref)
        client.tags = [*client.tags, arguments.tag]
        client.save(update_fields=["tags"])
        if arguments.die:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(arguments.seconds)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(%s)", [arguments.in_database])
        return {"ref": client.ref, "tags": client.tags}


@tool(label="Break down", permission="view_records", effects=())
class BreakDown:
    """A tool with a fault: it writes, and then it fails."""

    class Arguments(ToolArguments):
        client_ref: str

    def run(ctx: Context, arguments: Any) -> dict[str, Any]:
        client = find_client(arguments.client_ref)
        client.tags = ["broken"]
        client.save(update_fields=["tags"])
        raise RuntimeError("a secret that no model should read")


@tool(label="Read a lot", permission="view_records", effects=())
class ReadALot:
    """More rows than anybody wants."""

    class Arguments(ToolArguments):
        rows: int = 500

    def run(ctx: Context, arguments: Any) -> dict[str, Any]:
        return {"items": [{"ref": f"C-{number:04d}", "name": "Somebody " * 3} for number in range(arguments.rows)]}


@tool(label="Rename a client", permission="update_client", effects={Effect.BOOKS}, compensation="rename_client",
      editable=("name",))  # fmt: skip
class RenameClient:
    """Change a client's name: an effect in our own database, behind a card of level 1."""

    class Arguments(ToolArguments):
        client_ref: str
        name: str

    def prepare(ctx: Context, arguments: Any) -> Prepared:
        client = find_client(arguments.client_ref)
        if not arguments.name.strip():
            raise DomainError("NAME", "A name is needed.")
        return Prepared(
            payload={"client": str(client.pk), "name": arguments.name},
            preview=preview(client, Fact("name", "text", arguments.name)),
            summary=f"Rename {client.name} to {arguments.name}.",
            targets=(target(client),),
        )

    def execute(ctx: Context, payload: dict[str, Any], key: uuid.UUID) -> Receipt:
        if payload["name"] == "explode":
            raise RuntimeError("boom")
        if payload["name"] == "die" and not Path(os.environ["AVAL_TEST_PROVIDER"], "spared").exists():
            os.kill(os.getpid(), signal.SIGKILL)
        client = Client.objects.select_for_update().get(pk=payload["client"])
        before = client.name
        client.name, client.version = payload["name"], client.version + 1
        client.save(update_fields=["name", "version"])
        return Receipt(f"{client.ref} is called {client.name} now.", facts={"client": client.ref, "name": before})

    def reverse(payload: dict[str, Any], receipt: dict[str, Any]) -> dict[str, Any]:
        return {"client_ref": receipt["facts"]["client"], "name": receipt["facts"]["name"]}


def reserve(ctx: Context, payload: dict[str, Any], key: uuid.UUID) -> dict[str, Any]:
    return {"client": payload["client"]}


def call(payload: dict[str, Any], reserved: dict[str, Any], key: uuid.UUID) -> dict[str, Any]:
    return FileProvider().send(str(key), payload)


def record(
    ctx: Context, payload: dict[str, Any], reserved: dict[str, Any], result: dict[str, Any], key: uuid.UUID
) -> Receipt:
    client = Client.objects.get(pk=payload["client"])
    client.tags = [*client.tags, "letter"]
    client.save(update_fields=["tags"])
    return Receipt("The letter was posted.", provider_ref=result.get("receipt") or result["provider_id"])


def release(ctx: Context, payload: dict[str, Any], reserved: dict[str, Any], key: uuid.UUID) -> None:
    return None


def reconcile(payload: dict[str, Any], reserved: dict[str, Any], key: uuid.UUID) -> Found | None:
    return FileProvider().find(str(key))


@tool(label="Post a letter", permission="update_client", effects={Effect.DOCUMENT}, irreversible=True,
      on_reject=OnReject.KEEP_DRAFT, time_limit=2, editable=("text",))  # fmt: skip
class PostLetter:
    """Send a letter: an effect at a provider, behind a card of level 2."""

    class Arguments(ToolArguments):
        client_ref: str
        text: str

    def prepare(ctx: Context, arguments: Any) -> Prepared:
        client = find_client(arguments.client_ref)
        return Prepared(
            payload={"client": str(client.pk), "text": arguments.text},
            preview=preview(client, Fact("message", "long", arguments.text)),
            summary=f"Post a letter to {client.name}: {arguments.text}",
            targets=(target(client),),
            messages=1,
        )

    reserve, call, record, release, reconcile = reserve, call, record, release, reconcile


@tool(label="Pay out", permission="refund_payment", effects={Effect.MONEY_OUT}, irreversible=True)
class PayOut:
    """Money leaves: level 3."""

    class Arguments(ToolArguments):
        client_ref: str
        amount_cents: int

    def prepare(ctx: Context, arguments: Any) -> Prepared:
        client = find_client(arguments.client_ref)
        return Prepared(
            payload={"client": str(client.pk), "amount_cents": arguments.amount_cents},
            preview=preview(client, Fact("amount", "money", money(arguments.amount_cents, "USD")), typed="100.00"),
            summary=f"Pay {arguments.amount_cents} cents to {client.name}.",
            targets=(target(client),),
            amount_cents=arguments.amount_cents,
        )

    reserve, call, record, release, reconcile = reserve, call, record, release, reconcile
