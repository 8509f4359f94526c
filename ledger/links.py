"""The secret of a public link: derived, never stored. Whoever holds it sees one thing; nothing else opens with it."""

import base64
import hashlib
import hmac
import uuid

from django.conf import settings
from django.utils import timezone

from ledger.models.links import PublicLink
from ledger.tenancy import current_tenant, new_id

TOKEN_LENGTH = 43


def open_link(kind: PublicLink.Kind, object_id: uuid.UUID) -> PublicLink:
    """The open link to one object of the company in scope, made if there is none."""
    standing = PublicLink.objects.filter(kind=kind, object_id=object_id, closed_at=None).first()
    if standing is not None:
        return standing
    link_id = new_id()
    return PublicLink.objects.create(
        id=link_id,
        kind=kind,
        token_sha256=_sha256(_token(settings.SECRET_KEY, link_id)),
        tenant_id=current_tenant(),
        object_id=object_id,
    )


def close_link(kind: PublicLink.Kind, object_id: uuid.UUID) -> None:
    """From now on the object's link answers as if it had never been."""
    PublicLink.objects.filter(kind=kind, object_id=object_id, closed_at=None).update(closed_at=timezone.now())


def token_of(link: PublicLink) -> str:
    """The token that opens the link: 32 bytes as base64url. Empty where the key it was made with is gone."""
    tokens = (_token(str(secret), link.id) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS))
    return next((token for token in tokens if _sha256(token) == link.token_sha256), "")


def find_link(kind: PublicLink.Kind, token: str) -> PublicLink | None:
    """The open link that a token belongs to; None for a closed one as for one that never was."""
    if len(token) != TOKEN_LENGTH or not token.isascii():
        return None
    return PublicLink.objects.filter(kind=kind, token_sha256=_sha256(token), closed_at=None).first()


def address_of(link: PublicLink) -> str:
    """The whole address as it stands in a message."""
    return f"{settings.AVAL_URL}/q/{token_of(link)}/"


def _token(secret: str, link_id: uuid.UUID) -> str:
    key = hashlib.sha256(f"aval public link\n{secret}".encode()).digest()
    return base64.urlsafe_b64encode(hmac.digest(key, link_id.bytes, "sha256")).rstrip(b"=").decode()


def _sha256(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
