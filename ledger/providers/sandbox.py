"""How a sandbox provider behaves next, and what it keeps: the far side of the wire, in tables of its own."""

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import F
from django.utils import timezone

from ledger import tenancy
from ledger.models import SandboxDelivery, SandboxKnob

Mode = SandboxKnob.Mode
Status = SandboxDelivery.Status


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What the next call meets: its mode, and the milliseconds between work and answer."""

    mode: Mode = Mode.OK
    delay_ms: int = 0

    def wait(self) -> None:
        time.sleep(self.delay_ms / 1000)


def set_knob(company_id: uuid.UUID, port: str, mode: Mode, *, remaining: int | None = None, delay_ms: int = 0) -> None:
    """From now on a company's calls of a port meet `mode`: for so many calls, or until it is changed."""
    with tenancy.tenant(company_id):
        SandboxKnob.objects.update_or_create(
            port=port, defaults={"mode": mode, "remaining": remaining, "delay_ms": delay_ms}
        )


def next_behaviour(port: str) -> Behaviour:
    """The behaviour that this call meets, counted down. In the company's scope."""
    knob = SandboxKnob.objects.select_for_update().filter(port=port).first()
    if knob is None or knob.remaining == 0:
        return Behaviour()
    if knob.remaining is not None:
        SandboxKnob.objects.filter(pk=knob.pk).update(remaining=F("remaining") - 1)
    return Behaviour(Mode(knob.mode), knob.delay_ms)


def take(port: str, key: str, payload: Mapping[str, object], raw: str, *, refuse: bool) -> SandboxDelivery | None:
    """Note one request and its outcome, as a provider with idempotency keys does. In the company's scope.

    A key that was accepted stays accepted, whatever is asked of it later; None where the same key comes with
    another payload.
    """
    status = Status.REFUSED if refuse else Status.ACCEPTED
    fresh = SandboxDelivery(port=port, key=key, status=status, payload=payload, raw=raw, requests=0)
    SandboxDelivery.objects.bulk_create([fresh], ignore_conflicts=True)
    kept = SandboxDelivery.objects.select_for_update().get(port=port, key=key)
    if kept.status == Status.REFUSED:
        kept.status, kept.payload, kept.raw = status, payload, raw
    kept.requests, kept.updated_at = kept.requests + 1, timezone.now()
    kept.save(update_fields=["status", "payload", "raw", "requests", "updated_at"])
    return kept if kept.payload == payload else None


def kept(port: str, key: str) -> SandboxDelivery | None:
    """What the sandbox has on record under a key. In the company's scope."""
    return SandboxDelivery.objects.filter(port=port, key=key).first()


def settle(company_id: uuid.UUID, port: str, key: str, status: Status) -> bool:
    """What became of an accepted delivery: delivered or bounced. False if it was not waiting for that."""
    with tenancy.tenant(company_id):
        waiting = SandboxDelivery.objects.filter(port=port, key=key, status=Status.ACCEPTED)
        return waiting.update(status=status, updated_at=timezone.now()) == 1
