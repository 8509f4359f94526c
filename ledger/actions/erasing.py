"""Take what the record says of a person out of it, and leave the chain whole (docs/decisions/0013).

An owner erases with a reason. The deed is an event of the chain that lists the numbers of what it erased, and the
database does exactly what the deed says and nothing else. Who did what kind of thing, when, to which record, stays
proven; what was said of it is gone for good. Links of version 1 cannot be erased, and neither can the deeds.
"""

import json
import uuid
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from ledger import audit, permissions
from ledger.chain import ERASING, Numbers
from ledger.errors import DomainError, NotFound
from ledger.models import AuditEvent, AuditLink, Client, Contact, Lead, Membership
from ledger.tenancy import TenantModel

Person = Client | Lead | Membership
SHORTEST = 5
"""A name of fewer characters is looked for by the person's records only: it would be found in other words."""
ACTION = "pendingaction"
AT_ONCE = 20_000
"""So many events are erased by one deed where they are erased by their age."""


def person_of(ref: str) -> Person:
    """The client, lead or member of that ref, in the trash too. Raises NotFound."""
    wanted = ref.strip().upper()
    for model in (Client, Lead, Membership):
        found: Person | None = model.objects.filter(ref=wanted).first()
        if found is not None:
            return found
    sentence = _("There is no client, lead or member %(ref)s.") % {"ref": ref.strip()[:24]}
    raise NotFound(sentence, ref=ref.strip()[:24])


def events_about(person: Person) -> "QuerySet[AuditLink]":
    """The links of events that say something of a person and can be erased, in order.

    Of a member: what they did and what was done with them. Of a client or lead: events of their records, events that
    name them by id, e-mail address, phone or name (where nobody else is called so), and every event of an action of
    which one event does.
    """
    if isinstance(person, Membership):
        return _erasable().filter(Q(event__actor=person) | Q(event__subject_id=person.pk))
    about = Q(event__subject_id__in=list(_records(person)))
    for needle in _needles(person):
        about |= Q(event__body__contains=json.dumps(needle, ensure_ascii=False)[1:-1])
    first = _erasable().filter(about)
    actions = set(first.filter(event__subject_kind=ACTION).values_list("event__subject_id", flat=True))
    keys = set(first.values_list("pk", flat=True))
    keys |= set(_erasable().filter(event__subject_id__in=actions).values_list("pk", flat=True))
    return AuditLink.objects.filter(pk__in=keys).order_by("seq")


@transaction.atomic
def erase_person(person: Person, *, by: Membership, reason: str) -> AuditEvent:
    """Erase what the record says of a person. Returns the deed; raises REASON_REQUIRED, NOTHING_TO_ERASE."""
    permissions.require(by, "erase_audit")
    numbers = list(events_about(person).values_list("seq", flat=True))
    return _erase(numbers, by=by, reason=reason, subject=person, about=person.ref)


@transaction.atomic
def erase_before(moment: datetime, *, by: Membership, reason: str) -> AuditEvent:
    """Erase the oldest of what is from before a moment (UTC), at most AT_ONCE events: call it until nothing is left.

    Returns the deed; raises REASON_REQUIRED, NOTHING_TO_ERASE.
    """
    permissions.require(by, "erase_audit")
    numbers = list(_erasable().filter(event__at__lt=moment).values_list("seq", flat=True)[:AT_ONCE])
    return _erase(numbers, by=by, reason=reason, subject=None, about=f"{moment:%Y-%m-%d}")


def _erase(numbers: list[int], *, by: Membership, reason: str, subject: Person | None, about: str) -> AuditEvent:
    reason = reason.strip()[:500]
    if not reason:
        raise DomainError("REASON_REQUIRED", _("Write a reason; it stays on record."))
    if not numbers:
        raise DomainError("NOTHING_TO_ERASE", _("The record says nothing of this that could be erased."))
    ranges = Numbers.among(numbers).ranges
    deed = audit.record(ERASING, by=by, subject=subject, about=about, reason=reason, count=len(numbers), links=ranges)
    with connection.cursor() as cursor:
        cursor.execute("SELECT ledger_erase_events(%s)", [deed.pk])
        (erased,) = cursor.fetchone()
    if erased != len(numbers):
        raise RuntimeError(f"the deed lists {len(numbers)} events and {erased} were erased")
    return deed


def _erasable() -> "QuerySet[AuditLink]":
    whole = AuditLink.objects.filter(version__gt=1).exclude(event__salt="")
    return whole.exclude(event__kind__startswith="audit.").order_by("seq")


def _records(person: Client | Lead) -> Iterator[uuid.UUID]:
    """The ids of the person's own rows, and of the rows that belong to those."""
    yield person.pk
    for model, key in _belonging(type(person), person.pk):
        yield key
        for _model, below in _belonging(model, key):
            yield below


def _belonging(to: Any, key: uuid.UUID) -> Iterator[tuple[Any, uuid.UUID]]:
    for relation in to._meta.related_objects:
        model: Any = relation.related_model
        if issubclass(model, TenantModel) and model._meta.app_label == "ledger":
            found = model.objects.filter(**{relation.field.attname: key}).values_list("pk", flat=True)
            yield from ((model, pk) for pk in found)


def _needles(person: Client | Lead) -> Iterator[str]:
    yield str(person.pk)
    if isinstance(person, Client):
        for contact in Contact.objects.filter(client=person):
            yield from filter(None, (contact.email, contact.phone))
    else:
        yield from filter(None, (person.email, person.phone))
    if len(person.name) >= SHORTEST and _alone(person):
        yield person.name


def _alone(person: Client | Lead) -> bool:
    """Whether nobody else of this company has that name; a lead and the client that it became are one."""
    clients = Client.objects.filter(name__icontains=person.name).exclude(pk=person.pk)
    leads = Lead.objects.filter(name__icontains=person.name).exclude(pk=person.pk)
    if isinstance(person, Client):
        leads = leads.exclude(converted_client=person)
    elif person.converted_client_id:
        clients = clients.exclude(pk=person.converted_client_id)
    return not clients.exists() and not leads.exists()
