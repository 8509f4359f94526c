"""The key with which this installation signs what leaves it: Ed25519 (RFC 8032).

It is AVAL_SIGNING_KEY, or derived from SECRET_KEY where that is not set. Each export carries the public half and the
record says by which key it was signed, so a key that is changed leaves the older exports as good as they were.
"""

import base64
import hashlib
import secrets

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings

SIZE = 32


def new_key() -> str:
    """A value for AVAL_SIGNING_KEY: 32 random bytes in base64."""
    return base64.b64encode(secrets.token_bytes(SIZE)).decode()


def sign(content: bytes) -> bytes:
    """The signature of some bytes, in base64 with a line's end."""
    return base64.b64encode(_key().sign(content)) + b"\n"


def public_pem() -> bytes:
    """The public half, as a PEM file."""
    return _key().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def fingerprint() -> str:
    """SHA-256, in hex, of the 32 bytes of the public half: what is compared over the telephone."""
    return hashlib.sha256(_key().public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()


def _key() -> Ed25519PrivateKey:
    if settings.AVAL_SIGNING_KEY:
        return Ed25519PrivateKey.from_private_bytes(settings.AVAL_SIGNING_KEY)
    derived = HKDF(SHA256(), SIZE, salt=None, info=b"aval signing key 1").derive(settings.SECRET_KEY.encode())
    return Ed25519PrivateKey.from_private_bytes(derived)
