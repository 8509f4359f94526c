"""Sessions and their people as Django keeps them; the two queries that every request begins with are made once."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db.models import CharField, DateTimeField, OuterRef
from django.utils import timezone

from ledger.compiled import Compiled, Slot, an_id
from ledger.models import Access, User

SESSION = Compiled(
    lambda: Session.objects.filter(session_key=Slot("key", CharField()), expire_date__gt=Slot("now", DateTimeField()))
)
USER = Compiled(
    lambda: User.objects.filter(pk=an_id()).annotate(
        open_to=ArraySubquery(Access.objects.filter(user=OuterRef("pk")).order_by("id").values("tenant_id"))
    )
)
"""A person, and the companies that they may enter, oldest access first."""


class SessionStore(db.SessionStore):
    def _validate_session_key(self, key: str) -> bool:
        """A cookie may hold any character, NUL too, which no query can carry; our keys are letters and digits."""
        return super()._validate_session_key(key) and key.isascii() and key.isalnum()  # type: ignore[misc]

    def _get_session_from_db(self) -> Session | None:
        found = SESSION.first(key=self.session_key, now=timezone.now())
        if found is None:
            self._session_key = None
        return found


class Backend(ModelBackend):
    def get_user(self, user_id: Any) -> User | None:
        found = USER.first(pk=user_id)
        return found if found is not None and self.user_can_authenticate(found) else None
