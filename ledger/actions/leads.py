"""Leads: made, changed, moved on the board, put in the trash. Turning one into a client is in conversions.py."""

from collections.abc import Mapping
from typing import Any, Literal

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from ledger import audit, permissions
from ledger.actions import columns, rows
from ledger.actions.lead_columns import lead_columns, lead_search
from ledger.actions.matching import Traits, refuse_duplicates, same_clients, same_leads
from ledger.actions.notes import add_note
from ledger.errors import DomainError
from ledger.models import OPEN_STAGES, Lead, LostReason, Membership, Quote, Stage, StageChange
from ledger.models.leads import TRANSITIONS
from ledger.numbering import take_number

OnDuplicate = Literal["ask", "create"]


@transaction.atomic
def create_lead(
    *,
    by: Membership,
    name: str,
    phone: str = "",
    email: str = "",
    address: Mapping[str, str] | None = None,
    source: str = "",
    service: str = "",
    value_cents: int = 0,
    owner: Membership | None = None,
    notes: str = "",
    on_duplicate: OnDuplicate = "ask",
    ref: str = "",
) -> Lead:
    """Add a lead. With "ask", a probable duplicate (same phone, e-mail or address as a lead or a client) raises
    PROBABLE_DUPLICATE with the candidates and adds nothing. A company that brings its numbers along gives `ref`.
    """
    permissions.require(by, "create_lead")
    given: dict[str, Any] = {"name": name, "phone": phone, "email": email, "address": address or {}}
    given |= {"source": source, "service": service, "value_cents": value_cents, "owner": owner}
    written = lead_columns(given, columns.company())
    if on_duplicate == "ask":
        traits = Traits(phone=written["phone"], email=written["email"], address_key=written["address_key"])
        refuse_duplicates([*same_clients(traits), *same_leads(traits)])
    lead = Lead(**rows.made_by(by), **written, ref=ref or take_number("lead"))
    lead.search = lead_search(lead)
    lead.save(force_insert=True)
    StageChange.objects.create(lead=lead, to_stage=lead.stage, by=by)
    if notes.strip():
        add_note(lead, by=by, body=notes)
    audit.record("lead.created", by=by, subject=lead, ref=lead.ref, name=lead.name, source=lead.source)
    return lead


@transaction.atomic
def update_lead(lead: Lead, *, by: Membership, expected_version: int | None, changes: Mapping[str, Any]) -> Lead:
    """Change contact data, source, service, expected value or owner.

    Raises STALE_VERSION (I10) when the lead was written since, UNKNOWN_FIELD for what may not be changed so.
    """
    permissions.require(by, "update_lead")
    held = rows.locked(lead, expected_version=expected_version)
    if held.stage == Stage.WON:
        raise DomainError(
            "WRONG_STATUS", _("%(ref)s was won: change the client.") % {"ref": held.ref}, status=held.stage
        )
    written = lead_columns(changes, columns.company())
    differing = rows.differences(held, written)
    if not differing:
        return held
    for name, value in written.items():
        setattr(held, name, value)
    rows.write(held, by=by, **{name: written[name] for name in differing}, search=lead_search(held))
    audit.record("lead.updated", by=by, subject=held, ref=held.ref, changes=differing)
    return held


@transaction.atomic
def move_lead_stage(
    lead: Lead,
    *,
    by: Membership,
    stage: str,
    lost_reason: str = "",
    note: str = "",
    expected_version: int | None = None,
) -> Lead:
    """Move a lead on the board; `lost` needs a reason. Won comes only by conversion or an accepted quote.

    Raises WRONG_STATUS for a step that the board does not have, LOST_REASON_NEEDED.
    """
    permissions.require(by, "move_lead_stage")
    held = rows.locked(lead, expected_version=expected_version)
    wanted = Stage(stage)
    if wanted == held.stage:
        return held
    if wanted == Stage.WON or (held.stage, wanted.value) not in TRANSITIONS:
        sentence = _("%(ref)s cannot go from %(before)s to %(after)s.") % {
            "ref": held.ref,
            "before": Stage(held.stage).label,
            "after": wanted.label,
        }
        raise DomainError("WRONG_STATUS", sentence, status=held.stage)
    if wanted == Stage.LOST and lost_reason not in LostReason.values:
        raise DomainError("LOST_REASON_NEEDED", _("Say why the lead was lost."), known=LostReason.values)
    step(held, wanted, by=by, lost_reason=lost_reason if wanted == Stage.LOST else "", note=note)
    return held


def step(
    held: Lead, stage: Stage, *, by: Membership | None, lost_reason: str = "", note: str = "", **more: Any
) -> None:
    """Write one step of a locked lead: the column, the log of the board, the record."""
    before, now = held.stage, timezone.now()
    if before == stage:
        rows.write(held, by=by, **more)
        return
    if before == Stage.NEW and stage in OPEN_STAGES and held.first_response_at is None:
        more["first_response_at"] = now
    rows.write(held, by=by, stage=stage, lost_reason=lost_reason, stage_changed_at=now, **more)
    StageChange.objects.create(
        lead=held,
        from_stage=before,
        to_stage=stage,
        lost_reason=lost_reason,
        note=columns.line(note, "note", 500),
        at=now,
        by=by,
    )
    audit.record("lead.moved", by=by, subject=held, ref=held.ref, before=before, after=stage, reason=lost_reason)


@transaction.atomic
def win_lead(lead: Lead, *, by: Membership | None) -> Lead:
    """Mark an open lead as won because its quote was accepted; `by` is None where the client did so themselves."""
    held = rows.locked(lead)
    if held.is_open:
        step(held, Stage.WON, by=by)
    return held


@transaction.atomic
def delete_lead(lead: Lead, *, by: Membership, expected_version: int | None = None) -> Lead:
    """Move a lead to the trash, for thirty days. A converted one stays (I9), and so does one with a quote out.

    Raises WRONG_STATUS, or HAS_ISSUED_DOCUMENTS with the refs of the open quotes.
    """
    permissions.require(by, "delete_lead")
    held = rows.locked(lead, expected_version=expected_version)
    refuse_delete_lead(held)
    rows.trash(held, by=by)
    audit.record("lead.deleted", by=by, subject=held, ref=held.ref, name=held.name)
    return held


def refuse_delete_lead(lead: Lead) -> None:
    """Raises what `delete_lead` would; for the card, before anybody is asked."""
    if lead.stage == Stage.WON:
        sentence = _("%(ref)s became a client and cannot be deleted.") % {"ref": lead.ref}
        raise DomainError("WRONG_STATUS", sentence, status=lead.stage)
    out = Quote.objects.filter(lead=lead, deleted_at=None).exclude(status__in=Quote.DELETABLE)
    refs = list(out.order_by("ref").values_list("ref", flat=True))
    if refs:
        sentence = _("%(ref)s has quotes out: %(refs)s.") % {"ref": lead.ref, "refs": ", ".join(refs)}
        raise DomainError("HAS_ISSUED_DOCUMENTS", sentence, quotes=refs)
