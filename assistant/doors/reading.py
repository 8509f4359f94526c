"""Scoped reads of the event streams: bounded threads, no connection held while nobody reads (settled question 26)."""

import asyncio
import contextlib
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.db import connection
from django.utils.crypto import constant_time_compare

from assistant.gate.reading import MEMBER
from ledger import reader, tenancy
from ledger.middleware import companies_of
from ledger.models import Membership, User
from ledger.sessions import SessionStore

Answer = TypeVar("Answer")
READERS = 8
_readers = ThreadPoolExecutor(max_workers=READERS, thread_name_prefix="stream-read")


@dataclass(frozen=True)
class Viewer:
    """Who reads, in which company, in which language and zone; enough to enter the scope again and again."""

    user_id: uuid.UUID
    member_id: uuid.UUID
    tenant_id: uuid.UUID
    session_key: str
    language: str
    zone: str

    @contextlib.contextmanager
    def words(self) -> Iterator[None]:
        """The reader's language and time zone, without the database."""
        with reader.reading(self.language, self.zone):
            yield

    @contextlib.contextmanager
    def scope(self) -> Iterator[Membership]:
        """The company's scope for one read, with the reader's membership as it is now."""
        with tenancy.tenant(self.tenant_id), self.words():
            yield MEMBER.one(pk=self.member_id)


async def in_thread(read: Callable[..., Answer], *args: object) -> Answer:
    """Run one synchronous read on the bounded threads; its connection goes back to the pool at its end."""

    def work() -> Answer:
        try:
            return read(*args)
        finally:
            connection.close()

    return await asyncio.get_running_loop().run_in_executor(_readers, work)


def viewer_of(request: Any) -> Viewer:
    """Who reads, of a member's request."""
    member = request.member
    return Viewer(
        user_id=request.user.pk,
        member_id=member.pk,
        tenant_id=member.tenant_id,
        session_key=request.session.session_key,
        language=request.user.language,
        zone=member.timezone or request.company.timezone,
    )


def still_here(viewer: Viewer) -> bool:
    """Whether the session, the user, the password and the membership still stand."""
    session = SessionStore(viewer.session_key).load()
    user = User.objects.filter(pk=viewer.user_id, is_active=True).first()
    if user is None or session.get(SESSION_KEY) != str(user.pk):
        return False
    if not constant_time_compare(session.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash()):
        return False
    if viewer.tenant_id not in companies_of(user.pk):
        return False
    with tenancy.tenant(viewer.tenant_id):
        return Membership.objects.filter(pk=viewer.member_id, active=True).exists()
