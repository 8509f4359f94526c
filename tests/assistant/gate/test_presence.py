"""Whether a person is there at a strong card: passkeys that sign what was shown, evidence, arming (T69)."""

import hashlib
import io
import json
import threading
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from assistant.gate import approvals, evidence, passkeys
from assistant.gate.approvals import Kind
from assistant.gate.evidence import Given
from assistant.models import Decision, EvidenceFile, PendingAction, Seen
from assistant.models.evidence import MOST_BYTES
from ledger import webauthn
from ledger.actions.company import change_settings
from ledger.actions.passkeys import add_passkey, remove_passkey
from ledger.models import AuditEvent, Membership, Passkey
from tests.assistant.gate.conftest import Office
from tests.support.authenticator import PRESENT, Authenticator

BY_HAND = {"held": True, "reason": "agreed"}
CHALLENGE = b"c" * 32
PNG = b"\x89PNG\r\n\x1a\n" + b"picture"


@pytest.fixture(autouse=True)
def address(settings: Any) -> None:
    settings.AVAL_URL = "http://localhost:8000"


def registered(office: Office, member: Membership | None = None, **given: Any) -> Authenticator:
    key = Authenticator(**given)
    with office.scope():
        add_passkey(key.register(CHALLENGE), name="Telephone", challenge=CHALLENGE, by=member or office.dana)
    return key


def pay_out(office: Office, cents: int = 40_000) -> PendingAction:
    return office.propose("pay_out", amount_cents=cents)


def sign(key: Authenticator, action: PendingAction, **wrong: Any) -> str:
    return key.sign(passkeys.challenge_of(action), **wrong)


def require_passkeys(office: Office) -> None:
    with office.scope():
        change_settings(by=office.dana, changes={"l3_passkey": True})


def decision_on(office: Office, action: PendingAction, slot: int = 1) -> Decision:
    with office.scope():
        found: Decision = Decision.objects.select_related("action", "member").get(action=action, slot=slot)
        return found


def told(office: Office, action: PendingAction, kind: str) -> list[dict[str, Any]]:
    with office.scope():
        events = AuditEvent.objects.filter(kind=kind, subject_id=action.pk).order_by("at")
        return [json.loads(event.body)["detail"] for event in events]


def test_the_challenge_is_the_hash_that_was_shown_and_the_cards_id(office: Office) -> None:
    """Two cards for the same have the same hash: what was signed for one decides no other."""
    action = pay_out(office)
    assert passkeys.challenge_of(action) == bytes.fromhex(action.digest) + action.pk.bytes
    office.cancel(action)
    again = pay_out(office)
    assert again.digest == action.digest
    key = registered(office)
    assert office.confirm(again, **BY_HAND, assertion=sign(key, action)).kind == Kind.REFUSED
    assert office.confirm(again, **BY_HAND, assertion=sign(key, again)).kind == Kind.DECIDED


def test_t69_whoever_has_a_passkey_confirms_with_it_and_a_fresh_login_is_not_enough(office: Office) -> None:
    key, action = registered(office), pay_out(office)
    for lacking in (
        {"fresh_login": True},
        {"fresh_login": True, "assertion": "{}"},
        {"assertion": sign(key, action), "held": False},
        {"assertion": sign(key, action), "reason": ""},
    ):
        assert office.confirm(action, **(BY_HAND | lacking)).kind == Kind.REFUSED, lacking
    assert office.fresh(action).status == "pending"
    assert office.confirm(action, **BY_HAND, assertion=sign(key, action)).kind == Kind.DECIDED
    assert office.fresh(action).status == "scheduled"


@pytest.mark.parametrize(
    "wrong",
    [
        {"origin": "http://127.0.0.1:8000"},
        {"rp_id": "evil.example"},
        {"flags": PRESENT},
        {"type": "webauthn.create"},
        {"cross_origin": True},
    ],
    ids=str,
)
def test_a_signature_from_elsewhere_or_without_the_person_decides_nothing(office: Office, wrong: Any) -> None:
    key, action = registered(office), pay_out(office)
    answer = office.confirm(action, **BY_HAND, assertion=sign(key, action, **wrong))
    assert (answer.kind, office.fresh(action).status) == (Kind.REFUSED, "pending")
    assert told(office, action, "action.confirm_not_taken")[0]["outcome"] == "refused"


def test_a_signature_by_another_persons_or_a_removed_key_decides_nothing(office: Office) -> None:
    own, sams, action = registered(office), registered(office, office.sam), pay_out(office)
    assert office.confirm(action, **BY_HAND, assertion=sign(sams, action)).kind == Kind.REFUSED
    registered(office)
    with office.scope():
        gone = Passkey.objects.get(credential_id=webauthn.encode(own.credential_id))
        remove_passkey(gone, by=office.dana)
    assert office.confirm(action, **BY_HAND, assertion=sign(own, action)).kind == Kind.REFUSED
    assert office.fresh(action).status == "pending"


def test_t69_where_the_company_requires_a_passkey_nobody_confirms_without_one(office: Office) -> None:
    require_passkeys(office)
    action = pay_out(office)
    answer = office.confirm(action, **BY_HAND, fresh_login=True)
    assert (answer.kind, answer.sentence[:44]) == (Kind.REFUSED, "This company confirms strong cards with a pa")
    key = registered(office)
    assert office.confirm(action, **BY_HAND, fresh_login=True).sentence == "Confirm this with your passkey."
    assert office.confirm(action, **BY_HAND, assertion=sign(key, action)).kind == Kind.DECIDED


def test_a_weaker_card_asks_for_no_passkey(office: Office) -> None:
    require_passkeys(office)
    action = office.propose("post_letter", text="Hello.")
    assert office.confirm(action).kind == Kind.DECIDED


def test_the_second_person_signs_with_their_own(office: Office) -> None:
    key, sams, action = registered(office), registered(office, office.sam), pay_out(office, 60_000)
    office.confirm(action, **BY_HAND, assertion=sign(key, action))
    assert office.confirm(action, by=office.sam, **BY_HAND, assertion=sign(key, action)).kind == Kind.REFUSED
    assert office.confirm(action, by=office.sam, **BY_HAND, assertion=sign(sams, action)).kind == Kind.DECIDED
    for slot in (1, 2):
        decision = decision_on(office, action, slot)
        with office.scope():
            assert passkeys.problem_of(decision) == ""


def test_the_counter_and_the_last_use_follow_and_a_copy_is_found_out(office: Office) -> None:
    key, first = registered(office), pay_out(office)
    office.confirm(first, **BY_HAND, assertion=sign(key, first))
    with office.scope():
        kept = Passkey.objects.get()
    assert (kept.sign_count, kept.last_used_at is not None) == (1, True)
    key.count, second = 0, pay_out(office, 30_000)
    answer = office.confirm(second, **BY_HAND, assertion=sign(key, second))
    assert (answer.kind, "copied" in answer.sentence) == (Kind.REFUSED, True)
    with office.scope():
        event = AuditEvent.objects.get(kind="passkey.count_went_back", subject_id=kept.pk)
    assert (json.loads(event.body)["detail"]["kept"], json.loads(event.body)["detail"]["given"]) == (1, 1)


def test_a_key_kept_in_a_cloud_counts_nothing_and_is_taken(office: Office) -> None:
    key = registered(office, step=0)
    for cents in (10_000, 20_000):
        action = pay_out(office, cents)
        assert office.confirm(action, **BY_HAND, assertion=sign(key, action)).kind == Kind.DECIDED


def test_the_same_answer_sent_twice_decides_once_and_accuses_nobody(office: Office) -> None:
    """A double click, or two tabs, with one signature at the same time: the second finds the card decided."""
    key, action = registered(office), pay_out(office)
    answer, kinds = sign(key, action), []

    def click() -> None:
        try:
            kinds.append(str(office.confirm(action, **BY_HAND, assertion=answer).kind))
        finally:
            connection.close()

    threads = [threading.Thread(target=click) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(kinds) == ["decided", "repeated", "repeated", "repeated"]
    with office.scope():
        assert not AuditEvent.objects.filter(kind="passkey.count_went_back").exists()


def test_a_key_of_another_domain_neither_signs_nor_stands_in_the_way(office: Office, settings: Any) -> None:
    """The installation moved: the old keys are no use, and a fresh login counts again."""
    key, action = registered(office), pay_out(office)
    settings.AVAL_URL = "https://aval.example.com"
    assert office.confirm(action, **BY_HAND, assertion=sign(key, action)).kind == Kind.REFUSED
    assert office.confirm(action, **BY_HAND, fresh_login=True).kind == Kind.DECIDED


def signed(office: Office, **given: Any) -> Decision:
    key, action = registered(office, **given), pay_out(office)
    office.confirm(action, **BY_HAND, assertion=sign(key, action))
    return decision_on(office, action)


def test_what_is_kept_is_verified_again_after_the_key_and_the_address_are_gone(office: Office, settings: Any) -> None:
    decision = signed(office)
    with office.scope():
        remove_passkey(Passkey.objects.get(), by=office.dana)
    settings.AVAL_URL = "https://aval.example.com"
    with office.scope():
        assert passkeys.problem_of(decision) == ""


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ("client_data", "signature does not hold"),
        ("authenticator_data", "signature does not hold"),
        ("signature", "signature does not hold"),
        ("public_key", "signature does not hold"),
        ("origin", "signature does not hold"),
        ("passkey", "not on record as this person's"),
        ("name", "the record of the decision is of another"),
    ],
)
def test_a_changed_part_of_what_is_kept_is_found(office: Office, part: str, says: str) -> None:
    decision = signed(office)
    other = signed(office, count=7) if part != "name" else None
    new = other.assertion[part] if other and part != "origin" else "http://evil.example"
    decision.assertion = decision.assertion | {part: new}
    with office.scope():
        assert says in passkeys.problem_of(decision)


def test_a_signature_of_a_key_that_is_not_on_record_is_found(office: Office) -> None:
    """Somebody who can write the table signs with a key of their own and puts it beside the decision."""
    decision, forger = signed(office), Authenticator()
    made = webauthn.read_new_key(
        webauthn.Site("localhost", forger.origin), forger.register(CHALLENGE), challenge=CHALLENGE
    )
    answer = json.loads(forger.sign(passkeys.challenge_of(decision.action)))
    decision.assertion = decision.assertion | {
        "credential_id": made.credential_id,
        "public_key": made.public_key,
        "client_data": answer["response"]["clientDataJSON"],
        "authenticator_data": answer["response"]["authenticatorData"],
        "signature": answer["response"]["signature"],
    }
    with office.scope():
        assert "not on record" in passkeys.problem_of(decision)


def test_evidence_is_kept_with_the_decision_and_named_in_the_record(office: Office) -> None:
    action, given = pay_out(office), Given("../photo of\x00 the roof.PNG.exe", PNG)
    office.confirm(action, **BY_HAND, fresh_login=True, evidence="Agreed by telephone.", file=given)
    decision, sha256 = decision_on(office, action), hashlib.sha256(PNG).hexdigest()
    assert decision.evidence == "Agreed by telephone."
    assert decision.attachment == {
        "name": "photo of the roof.PNG.png", "kind": "image/png", "size": len(PNG), "sha256": sha256
    }  # fmt: skip
    with office.scope():
        assert bytes(EvidenceFile.objects.get(decision=decision).content) == PNG
    (event,) = told(office, action, "action.confirmed")
    assert (event["evidence"], event["attachment"]) == ("Agreed by telephone.", sha256)


@pytest.mark.parametrize(
    "content", [b"", b"<html>", b"MZ" + b"\x00" * 40, b"GIF89a", b"x%PDF-1.7", PNG + b"\x00" * MOST_BYTES]
)
def test_a_file_that_is_not_taken_decides_nothing(office: Office, content: bytes) -> None:
    action = pay_out(office)
    answer = office.confirm(action, **BY_HAND, fresh_login=True, file=Given("a.pdf", content))
    assert (answer.kind, office.fresh(action).status) == (Kind.REFUSED, "pending")
    with office.scope():
        assert EvidenceFile.objects.count() == 0


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"%PDF-1.7 ...", evidence.PDF),
        (PNG, evidence.PNG),
        (b"\xff\xd8\xff\xe0 ...", evidence.JPEG),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", evidence.WEBP),
    ],
)
def test_what_a_file_is_its_bytes_say(content: bytes, kind: str) -> None:
    assert Given("x.txt", content).kind == kind
    assert evidence.described(Given("..", content))["name"] == "evidence" + evidence.ENDINGS[kind]


@pytest.mark.parametrize(("after", "arming", "seconds"), [(None, "unseen", None), (0.5, "early", 0), (3.2, "armed", 3)])
def test_how_long_a_card_was_in_sight_is_on_record_and_refuses_nothing(
    office: Office, after: float | None, arming: str, seconds: int | None
) -> None:
    action = office.propose("post_letter", text="Hello.")
    with office.scope():
        if after is not None:
            approvals.seen(office.click(action))
    moment = timezone.now()
    if after is not None:
        with office.scope():
            moment = Seen.objects.get().at + timedelta(seconds=after)
    with time_machine.travel(moment, tick=False):
        assert office.confirm(action).kind == Kind.DECIDED
    (event,) = told(office, action, "action.confirmed")
    assert (event["arming"], event["seconds_shown"]) == (arming, seconds)


def verify(office: Office) -> str:
    out = io.StringIO()
    call_command("verify_passkeys", "--company", office.company.slug, stdout=out)
    return out.getvalue()


def test_the_command_checks_every_signature_again_and_names_what_fails(office: Office) -> None:
    signed(office)
    assert verify(office).endswith("1 signatures hold, 0 do not\n")
    decision = signed(office)
    with office.scope(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE assistant_decision DISABLE TRIGGER USER")
        Decision.objects.filter(pk=decision.pk).update(assertion=decision.assertion | {"signature": "AAAA"})
        cursor.execute("ALTER TABLE assistant_decision ENABLE TRIGGER USER")
    with pytest.raises(CommandError, match="1 signatures do not hold"):
        verify(office)
