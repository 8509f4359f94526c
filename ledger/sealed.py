"""Texts that are stored sealed: encrypted under the installation's key, found again by a keyed hash.

The keys come from SECRET_KEY; a former key in SECRET_KEY_FALLBACKS still opens what it sealed.
"""

import base64
import hashlib
import hmac

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class Unreadable(ValueError):
    """What is stored was sealed under a key that this installation does not have."""


def _derived(secret: str | bytes, purpose: str) -> bytes:
    key = secret.encode() if isinstance(secret, str) else secret
    return hashlib.sha256(f"aval {purpose}\n".encode() + key).digest()


def _box() -> MultiFernet:
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(_derived(secret, "seal"))) for secret in secrets])


def seal(clear: str) -> str:
    """The text, encrypted and authenticated (Fernet). Each call gives another result."""
    return _box().encrypt(clear.encode()).decode()


def unseal(stored: str) -> str:
    """The text that was sealed. Raises Unreadable if it was tampered with or the key is gone."""
    try:
        return _box().decrypt(stored.encode()).decode()
    except InvalidToken:
        raise Unreadable("sealed under another key") from None


def fingerprint(clear: str) -> str:
    """A keyed hash, the same for the same text: for an equality search and a unique constraint."""
    return hmac.new(_derived(settings.SECRET_KEY, "find"), clear.encode(), hashlib.sha256).hexdigest()
