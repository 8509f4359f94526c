"""Passkeys by WebAuthn: what a browser is asked, and whether what it answers holds. No rows and no requests here.

The answers are those of `PublicKeyCredential.toJSON()` (WebAuthn level 3, 5.1); bytes travel as base64url without
padding. Origin, site, challenge, presence and the person's verification are checked by the `fido2` library; this
module says which site that is and which keys are taken.
"""

import ipaddress
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from cryptography.exceptions import UnsupportedAlgorithm
from django.conf import settings
from fido2 import cbor
from fido2.cose import ES256, RS256, CoseKey, EdDSA
from fido2.server import Fido2Server
from fido2.utils import websafe_decode, websafe_encode
from fido2.webauthn import (
    Aaguid,
    AttestedCredentialData,
    AuthenticationResponse,
    AuthenticatorTransport,
    PublicKeyCredentialRpEntity,
    RegistrationResponse,
    UserVerificationRequirement,
)

NAME = "Aval"
MOST_CHARS = 20_000
ALGORITHMS: tuple[int, ...] = (ES256.ALGORITHM, EdDSA.ALGORITHM, RS256.ALGORITHM)
"""What telephones, security keys and Windows sign with; the browser takes the first that it can."""
TRANSPORTS = frozenset(str(known.value) for known in AuthenticatorTransport)
UNREADABLE = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    AssertionError,
    RecursionError,
    OverflowError,
    struct.error,
    UnsupportedAlgorithm,
)
"""What the library raises for an answer that is none; any of these means no."""


class BadAnswer(Exception):
    """The browser's answer does not hold. The text is for the log and the record, in English."""


@dataclass(frozen=True)
class Site:
    """Where the passkeys of this installation work: `rp_id` is the domain, `origin` the one address of its pages."""

    rp_id: str
    origin: str

    def server(self) -> Fido2Server:
        entity = PublicKeyCredentialRpEntity(name=NAME, id=self.rp_id)
        return Fido2Server(entity, verify_origin=lambda origin: origin == self.origin)


@dataclass(frozen=True)
class NewKey:
    """A key that an authenticator has just made."""

    credential_id: str
    public_key: str
    sign_count: int
    transports: tuple[str, ...]


@dataclass(frozen=True)
class Assertion:
    """A signature that holds: everything that is needed to check it again, and the authenticator's counter."""

    credential_id: str
    client_data: str
    authenticator_data: str
    signature: str
    sign_count: int


def site() -> Site | None:
    """The site of AVAL_URL; None where browsers refuse passkeys: on a bare IP address, or without https."""
    url = urlsplit(settings.AVAL_URL)
    host = url.hostname or ""
    local = host == "localhost" or host.endswith(".localhost")
    if not host or _is_address(host) or not (url.scheme == "https" or local):
        return None
    port = f":{url.port}" if url.port and url.port != {"https": 443, "http": 80}.get(url.scheme) else ""
    return Site(host, f"{url.scheme}://{host}{port}")


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def encode(raw: bytes) -> str:
    return websafe_encode(raw)


def decode(text: str) -> bytes:
    """The bytes of a base64url text; raises ValueError where it is none."""
    return websafe_decode(text)


def creation_options(
    here: Site, *, challenge: bytes, user_id: bytes, user_name: str, display_name: str, known: Sequence[str]
) -> dict[str, Any]:
    """What `navigator.credentials.create` is asked (PublicKeyCredentialCreationOptionsJSON). `known` are credential
    ids that this person has already: their authenticators make no second one.
    """
    return {
        "rp": {"id": here.rp_id, "name": NAME},
        "user": {"id": encode(user_id), "name": user_name, "displayName": display_name},
        "challenge": encode(challenge),
        "pubKeyCredParams": [{"type": "public-key", "alg": algorithm} for algorithm in ALGORITHMS],
        "excludeCredentials": [{"type": "public-key", "id": credential_id} for credential_id in known],
        "authenticatorSelection": {"residentKey": "preferred", "userVerification": "required"},
        "attestation": "none",
    }


def read_new_key(here: Site, answer: str, *, challenge: bytes) -> NewKey:
    """The key of a registration's answer. Raises BadAnswer unless it is for this site and this challenge, by a person
    whom the authenticator verified.
    """
    given = _object(answer)
    try:
        read = RegistrationResponse.from_dict(given)
        _same_origin(read.response.client_data.cross_origin)
        made = here.server().register_complete(_state(challenge), read)
        credential = made.credential_data
        if credential is None or credential.public_key.ALGORITHM not in ALGORITHMS:
            raise BadAnswer("a key of an algorithm that was not asked for")
        if credential.credential_id != read.raw_id:
            raise BadAnswer("the key's id is not the answer's")
        return NewKey(
            encode(credential.credential_id),
            encode(cbor.encode(dict(credential.public_key))),
            made.counter,
            _transports(given),
        )
    except UNREADABLE as problem:
        raise BadAnswer(f"not a registration: {problem}") from problem


def credential_id_of(answer: str) -> str:
    """Which key an assertion says that it is by; nothing is checked. Raises BadAnswer."""
    try:
        return encode(AuthenticationResponse.from_dict(_object(answer)).raw_id)
    except UNREADABLE as problem:
        raise BadAnswer(f"not an assertion: {problem}") from problem


def check(here: Site, answer: str, *, challenge: bytes, credential_id: str, public_key: str) -> Assertion:
    """Whether this key signed this challenge for this site, by a person whom the authenticator verified.

    Raises BadAnswer. The counter is given back unjudged: it takes the stored one to do that.
    """
    try:
        read = AuthenticationResponse.from_dict(_object(answer))
        _same_origin(read.response.client_data.cross_origin)
        key = CoseKey.parse(cbor.decode(decode(public_key)))  # type: ignore[arg-type]
        if key.ALGORITHM not in ALGORITHMS:
            raise BadAnswer("a key of an algorithm that was not asked for")
        credential = AttestedCredentialData.create(Aaguid.NONE, decode(credential_id), key)
        here.server().authenticate_complete(_state(challenge), [credential], read)
    except UNREADABLE as problem:
        raise BadAnswer(f"not an assertion: {problem}") from problem
    return Assertion(
        credential_id,
        encode(read.response.client_data),
        encode(read.response.authenticator_data),
        encode(read.response.signature),
        read.response.authenticator_data.counter,
    )


def answer_of(assertion: Mapping[str, Any]) -> str:
    """The answer that an assertion was read from, for checking it again. The keys are the fields of Assertion."""
    return json.dumps(
        {
            "type": "public-key",
            "id": assertion["credential_id"],
            "rawId": assertion["credential_id"],
            "response": {
                "clientDataJSON": assertion["client_data"],
                "authenticatorData": assertion["authenticator_data"],
                "signature": assertion["signature"],
            },
            "clientExtensionResults": {},
        }
    )


def _object(answer: str) -> dict[str, Any]:
    if len(answer) > MOST_CHARS:
        raise BadAnswer("an answer that is too long")
    try:
        given = json.loads(answer)
    except (ValueError, RecursionError) as problem:
        raise BadAnswer("not JSON") from problem
    if not isinstance(given, dict):
        raise BadAnswer("not an object")
    return {**given, "clientExtensionResults": {}}


def _state(challenge: bytes) -> dict[str, Any]:
    return {"challenge": encode(challenge), "user_verification": UserVerificationRequirement.REQUIRED}


def _same_origin(crossed: object) -> None:
    if crossed:
        raise BadAnswer("asked from within another site's page")


def _transports(given: Mapping[str, Any]) -> tuple[str, ...]:
    named = given["response"].get("transports", [])
    return tuple(sorted(TRANSPORTS.intersection(str(one) for one in named))) if isinstance(named, list) else ()
