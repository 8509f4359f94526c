"""Mail to the company's own people, one for each thing that is to be told; sent by the worker under the notice's id.

A worker that dies between the provider's answer and its record asks a provider that keeps no record of keys again: such
a mail may come twice. Nothing is decided by it.

What a notice says is made when it is sent, in the language and the time zone of the person it goes to. Whoever raises a
kind of notice declares its words here by `words_of`.
"""

import logging
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

from django.db.models.functions import Now

from ledger import jobs, reader, tenancy
from ledger.actions.messages import sender_of
from ledger.errors import DomainError
from ledger.models import Membership, StaffNotice
from ledger.providers import outcomes
from ledger.providers.mail import MailMessage
from ledger.providers.ports import mail_port
from ledger.tenancy import new_id

log = logging.getLogger(__name__)


class Words(NamedTuple):
    """Subject and text of a notice."""

    subject: str
    text: str


Writer = Callable[[StaffNotice], Words | None]
WRITERS: dict[str, Writer] = {}


def words_of(kind: str) -> Callable[[Writer], Writer]:
    """Declare what a kind of notice says: a function of the notice, which may read; None: it is pointless by now."""

    def add(writer: Writer) -> Writer:
        if kind in WRITERS:
            raise RuntimeError(f"two notices are called {kind}")
        WRITERS[kind] = writer
        return writer

    return add


def notify(member: Membership, kind: str, subject_id: uuid.UUID, **params: Any) -> bool:
    """Promise a notice, in the running transaction; False where this person was told of this already."""
    if kind not in WRITERS:
        raise LookupError(f"nobody has words for {kind}")
    notice = StaffNotice(id=new_id(), member=member, kind=kind, subject_id=subject_id, params=params)
    StaffNotice.objects.bulk_create([notice], ignore_conflicts=True)
    if not StaffNotice.objects.filter(pk=notice.pk).exists():
        return False
    jobs.later("staff_mail", notice.pk)
    return True


@jobs.job("staff_mail")
def send(tenant_id: uuid.UUID, notice_id: uuid.UUID) -> None:
    """Send one notice. A second delivery asks the provider with the same key, which sends nothing twice."""
    with tenancy.tenant(tenant_id):
        notice = StaffNotice.objects.select_related("member__user", "member__tenant").get(pk=notice_id)
        try:
            mail = _composed(notice) if notice.sent_at is None and not notice.problem else None
        except DomainError as wrong:  # no address to write from, or one that mail cannot reach
            StaffNotice.objects.filter(pk=notice_id).update(problem=wrong.code[:40])
            mail = None
    if mail is None:
        return
    port = mail_port()
    try:
        accepted = port.find(mail.key, company_id=tenant_id) or port.send(mail)
    except outcomes.Refused as refused:
        log.warning("The notice %s was refused: %s", notice_id, refused.code)
        _keep(tenant_id, notice_id, problem=refused.code[:40])
    except outcomes.Uncertain:
        _keep(tenant_id, notice_id, problem="UNCERTAIN")
    else:
        _keep(tenant_id, notice_id, sent_at=Now(), provider_id=accepted.provider_id[:200])


def _keep(tenant_id: uuid.UUID, notice_id: uuid.UUID, **changes: Any) -> None:
    with tenancy.tenant(tenant_id):
        StaffNotice.objects.filter(pk=notice_id).update(**changes)


def _composed(notice: StaffNotice) -> MailMessage | None:
    """The mail, in the reader's language; None where the person has left or there is nothing left to tell."""
    member = notice.member
    if not member.active:
        return None
    with reader.reading(member.user.language, member.timezone or member.tenant.timezone):
        words = WRITERS[notice.kind](notice)
    if words is None:
        return None
    return MailMessage(
        company_id=member.tenant.pk,
        key=str(notice.pk),
        sender=sender_of(member.tenant)[0],
        sender_name="Aval",
        to=(member.user.email,),
        subject=words.subject,
        text=words.text,
    )
