"""Passkeys, the pure part: what a browser is asked and which of its answers hold."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger import webauthn
from ledger.webauthn import BadAnswer, Site
from tests.support.authenticator import PRESENT, VERIFIED, Authenticator

HERE = Site("localhost", "http://localhost:8000")
CHALLENGE = bytes(range(48))
WRONG: list[dict[str, Any]] = [
    {"origin": "http://localhost:8001"},
    {"origin": "https://localhost:8000"},
    {"origin": "http://evil.localhost:8000"},
    {"rp_id": "example.com"},
    {"flags": PRESENT},
    {"flags": VERIFIED},
    {"cross_origin": True},
]


def registered(authenticator: Authenticator) -> webauthn.NewKey:
    return webauthn.read_new_key(HERE, authenticator.register(CHALLENGE), challenge=CHALLENGE)


def check(answer: str, key: webauthn.NewKey, challenge: bytes = CHALLENGE) -> webauthn.Assertion:
    return webauthn.check(HERE, answer, challenge=challenge, credential_id=key.credential_id, public_key=key.public_key)


def test_a_new_key_is_read_and_what_it_signs_holds() -> None:
    authenticator = Authenticator()
    key = registered(authenticator)
    assert (key.credential_id, key.sign_count) == (webauthn.encode(authenticator.credential_id), 0)
    assert key.transports == ("hybrid", "internal")
    answer = authenticator.sign(CHALLENGE)
    assert webauthn.credential_id_of(answer) == key.credential_id
    assertion = check(answer, key)
    assert assertion.sign_count == 1
    assert check(webauthn.answer_of(vars(assertion)), key) == assertion


@pytest.mark.parametrize("wrong", [*WRONG, {"type": "webauthn.get"}], ids=str)
def test_a_registration_for_another_site_or_without_the_person_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadAnswer):
        webauthn.read_new_key(HERE, Authenticator().register(CHALLENGE, **wrong), challenge=CHALLENGE)


def test_a_registration_of_another_challenge_is_refused() -> None:
    with pytest.raises(BadAnswer, match="challenge"):
        webauthn.read_new_key(HERE, Authenticator().register(b"x" * 32), challenge=CHALLENGE)


@pytest.mark.parametrize("wrong", [*WRONG, {"type": "webauthn.create"}], ids=str)
def test_a_signature_for_another_site_or_without_the_person_is_refused(wrong: dict[str, Any]) -> None:
    authenticator = Authenticator()
    key = registered(authenticator)
    with pytest.raises(BadAnswer):
        check(authenticator.sign(CHALLENGE, **wrong), key)


def test_a_signature_of_another_challenge_or_by_another_key_is_refused() -> None:
    authenticator, other = Authenticator(), Authenticator()
    key = registered(authenticator)
    with pytest.raises(BadAnswer, match="challenge"):
        check(authenticator.sign(b"x" * 48), key)
    with pytest.raises(BadAnswer, match="Unknown credential"):
        check(other.sign(CHALLENGE), key)
    other.credential_id = authenticator.credential_id
    with pytest.raises(BadAnswer, match="signature"):
        check(other.sign(CHALLENGE), key)


@pytest.mark.parametrize("part", ["clientDataJSON", "authenticatorData", "signature"])
def test_a_changed_byte_anywhere_is_refused(part: str) -> None:
    authenticator = Authenticator()
    key = registered(authenticator)
    answer = json.loads(authenticator.sign(CHALLENGE))
    raw = bytearray(webauthn.decode(answer["response"][part]))
    for place in range(len(raw)):
        changed = bytes(byte ^ (1 if at == place else 0) for at, byte in enumerate(raw))
        given = {**answer, "response": {**answer["response"], part: webauthn.encode(changed)}}
        with pytest.raises(BadAnswer):
            check(json.dumps(given), key)


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda some: st.lists(some, max_size=3))
PARTS = ("clientDataJSON", "attestationObject", "authenticatorData", "signature", "transports")
ANSWERS = st.fixed_dictionaries(
    {"id": st.just("AAAA"), "rawId": st.just("AAAA") | JSON, "type": st.just("public-key")},
    optional={
        "response": JSON
        | st.fixed_dictionaries({}, optional={p: JSON | st.binary(max_size=200).map(webauthn.encode) for p in PARTS})
    },
)


@given(st.text(max_size=100) | JSON.map(json.dumps) | ANSWERS.map(json.dumps))
def test_whatever_is_sent_is_read_or_refused(answer: str) -> None:
    key = webauthn.NewKey("AAAA", "AAAA", 0, ())
    for read in (
        lambda: webauthn.read_new_key(HERE, answer, challenge=CHALLENGE),
        lambda: webauthn.credential_id_of(answer) and check(answer, key),
    ):
        with pytest.raises(BadAnswer):
            read()


@given(st.binary(max_size=400))
def test_no_attestation_object_breaks_the_reader(raw: bytes) -> None:
    answer = json.loads(Authenticator().register(CHALLENGE))
    answer["response"]["attestationObject"] = webauthn.encode(raw)
    with pytest.raises(BadAnswer):
        webauthn.read_new_key(HERE, json.dumps(answer), challenge=CHALLENGE)


@pytest.mark.parametrize("answer", ["[" * 30_000, "[" * 19_000, json.dumps({"response": "x" * 30_000})])
def test_an_answer_that_is_too_much_is_refused(answer: str) -> None:
    with pytest.raises(BadAnswer):
        webauthn.read_new_key(HERE, answer, challenge=CHALLENGE)


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("http://localhost:8000", Site("localhost", "http://localhost:8000")),
        ("http://aval.localhost", Site("aval.localhost", "http://aval.localhost")),
        ("https://aval.example.com", Site("aval.example.com", "https://aval.example.com")),
        ("https://aval.example.com:443", Site("aval.example.com", "https://aval.example.com")),
        ("https://aval.example.com:8443", Site("aval.example.com", "https://aval.example.com:8443")),
        ("http://127.0.0.1:8000", None),
        ("https://192.0.2.7", None),
        ("https://[2001:db8::1]:8443", None),
        ("http://aval.example.com", None),
    ],
)
def test_the_site_is_a_domain_with_https_or_this_machine(settings: Any, address: str, here: Site | None) -> None:
    settings.AVAL_URL = address
    assert webauthn.site() == here


def test_the_browser_is_asked_for_a_verified_person_and_no_attestation() -> None:
    asked = webauthn.creation_options(
        HERE, challenge=CHALLENGE, user_id=b"\x01" * 16, user_name="dana@x.example", display_name="Dana", known=["AAAA"]
    )
    assert asked["authenticatorSelection"]["userVerification"] == "required"
    assert (asked["attestation"], asked["rp"]) == ("none", {"id": "localhost", "name": "Aval"})
    assert asked["excludeCredentials"] == [{"type": "public-key", "id": "AAAA"}]
    assert [one["alg"] for one in asked["pubKeyCredParams"]] == [-7, -8, -257]
