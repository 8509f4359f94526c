"""An authenticator in software: makes keys and signs as a security key does, or wrongly where a test says so."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2.cose import ES256
from fido2.webauthn import Aaguid, AttestationObject, AttestedCredentialData, AuthenticatorData

from ledger.tenancy import new_id
from ledger.webauthn import encode

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


@dataclass
class Authenticator:
    """One key of one person. `step` is what its counter grows by; 0 is a passkey that is kept in a cloud."""

    rp_id: str = "localhost"
    origin: str = "http://localhost:8000"
    step: int = 1
    count: int = 0
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    credential_id: bytes = field(default_factory=lambda: new_id().bytes)

    def register(self, challenge: bytes, **wrong: Any) -> str:
        """The answer to `navigator.credentials.create`, as JSON."""
        public_key = ES256.from_cryptography_key(self.key.public_key())
        credential = AttestedCredentialData.create(Aaguid.NONE, self.credential_id, public_key)
        data = self._data(ATTESTED, credential, **wrong)
        return self._answer(
            {
                "clientDataJSON": encode(self._client("webauthn.create", challenge, **wrong)),
                "attestationObject": encode(AttestationObject.create("none", data, {})),
                "transports": ["internal", "hybrid", "pigeon"],
            }
        )

    def sign(self, challenge: bytes, **wrong: Any) -> str:
        """The answer to `navigator.credentials.get`, as JSON. `wrong`: type, origin, rp_id, flags, cross_origin."""
        self.count += self.step
        client, data = self._client("webauthn.get", challenge, **wrong), self._data(0, b"", **wrong)
        signature = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        return self._answer(
            {
                "clientDataJSON": encode(client),
                "authenticatorData": encode(data),
                "signature": encode(signature),
                "userHandle": None,
            }
        )

    def _client(self, kind: str, challenge: bytes, **wrong: Any) -> bytes:
        said = {
            "type": wrong.get("type", kind),
            "challenge": encode(challenge),
            "origin": wrong.get("origin", self.origin),
            "crossOrigin": wrong.get("cross_origin", False),
        }
        return json.dumps(said).encode()

    def _data(self, more: int, credential: bytes, **wrong: Any) -> AuthenticatorData:
        site = hashlib.sha256(wrong.get("rp_id", self.rp_id).encode()).digest()
        return AuthenticatorData.create(site, wrong.get("flags", PRESENT | VERIFIED) | more, self.count, credential)

    def _answer(self, response: dict[str, Any]) -> str:
        own = encode(self.credential_id)
        return json.dumps(
            {"id": own, "rawId": own, "type": "public-key", "response": response, "clientExtensionResults": {}}
        )
