"""An export proves itself elsewhere: whatever is changed, left out, moved, added or cut is found (R12)."""

import base64
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client as Browser
from django.test import override_settings

from ledger import audit, permissions
from ledger.actions import erasing
from ledger.models import AuditEvent, AuditLink, ChainHead
from ledger.record import export, signing, verify
from tests.cast import PASSWORD, Cast, john_smith

Lines = list[dict[str, Any]]


@pytest.fixture
def told(lone_ridge: Cast) -> Cast:
    """A company whose record has a strange text, an older link before it and an erased person in it."""
    with lone_ridge.scope():
        john_smith(lone_ridge)
        for number in range(5):
            audit.record("note.added", by=lone_ridge.owner, text=f'é \u2028 \U0001f600 \\ " {number}')
    with lone_ridge.scope():
        erasing.erase_person(erasing.person_of("C-0001"), by=lone_ridge.owner, reason="Asked.")
    return lone_ridge


@pytest.fixture
def exported(told: Cast, tmp_path: Path) -> Path:
    path = tmp_path / "record.zip"
    call_command("export_audit", told.company.slug, path, stdout=io.StringIO())
    return path


def found(path: Path, key: bytes | None = None) -> tuple[int, str]:
    said: list[str] = []
    code = verify.verify(path, key, said.append)
    return code, "\n".join(said)


def rewritten(path: Path, *, signed: bool = True, **changes: Callable[[Lines], Any]) -> Path:
    """The same export with lines changed, as somebody would who has the signing key too, or not."""
    after = path.with_name("changed.zip")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(after, "w") as new:
        manifest = json.loads(old.read(verify.MANIFEST))
        for name in (verify.EVENTS, verify.LINKS):
            lines = [json.loads(line) for line in old.read(name).split(b"\n") if line]
            changes.get(name.partition(".")[0], lambda _lines: None)(lines)
            content = b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)
            new.writestr(name, content)
            if signed:
                manifest["files"][name]["sha256"] = hashlib.sha256(content).hexdigest()
        changes.get("manifest", lambda _told: None)(manifest)
        text = json.dumps(manifest).encode()
        new.writestr(verify.MANIFEST, text)
        new.writestr(verify.SIGNATURE, signing.sign(text) if signed else old.read(verify.SIGNATURE))
        new.writestr(verify.KEY, old.read(verify.KEY))
    return after


def test_a_whole_export_is_whole_wherever_it_is_read(told: Cast, exported: Path) -> None:
    code, said = found(exported)
    with told.scope():
        head = ChainHead.objects.get()
        (event,) = AuditEvent.objects.filter(kind="audit.exported")
        assert AuditLink.objects.get(event=event).seq == head.seq, "the export is the last thing in it"
    assert code == 0
    assert f"whole: {head.seq} links, head {head.hash}; 1 events erased by deeds on record" in said
    assert "SIGNATURE  good, checked with the Python package cryptography" in said
    assert signing.fingerprint() in said and event.told["key"] == signing.fingerprint()
    with zipfile.ZipFile(exported) as archive:
        assert archive.testzip() is None
        assert b"john.smith@example.com" not in archive.read(verify.EVENTS)


def test_the_program_in_the_export_runs_by_itself(exported: Path, tmp_path: Path) -> None:
    """Python alone, none of our packages: -I leaves out the working folder, -S everything that was installed."""
    with zipfile.ZipFile(exported) as archive:
        archive.extract("verify.py", tmp_path)
        (tmp_path / "key.pem").write_bytes(archive.read(verify.KEY))
    assert shutil.which("openssl"), "the second way to check a signature"
    command = [sys.executable, "-I", "-S", tmp_path / "verify.py", exported, "--key", tmp_path / "key.pem"]
    by_openssl = subprocess.run(command, capture_output=True, text=True, check=False)
    assert by_openssl.returncode == 0, by_openssl.stdout + by_openssl.stderr
    assert "SIGNATURE  good, checked with the command openssl" in by_openssl.stdout
    alone = subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": str(tmp_path)})
    assert alone.returncode == 2
    assert "CHAIN      whole" in alone.stdout and "SIGNATURE  NOT CHECKED" in alone.stdout
    forged = rewritten(exported, signed=False, manifest=lambda told: told.update(made_for="Mallory"))
    wrong = subprocess.run([*command[:4], forged], capture_output=True, text=True, check=False)
    assert (wrong.returncode, "SIGNATURE  BAD, checked with the command openssl" in wrong.stdout) == (1, True)


def changed(lines: Lines) -> None:
    lines[4]["body"] = lines[4]["body"].replace("note", "vote")


def pretended(lines: Lines) -> None:
    """Erased, under the name of a deed that is on record and is not of this."""
    deed = next(line["body"] for line in lines if not line["salt"])
    lines[5].update(body=deed, salt="", address="")


def moved(lines: Lines) -> None:
    lines[3], lines[4] = lines[4], lines[3]


def column(lines: Lines) -> None:
    lines[4]["actor"] = None


def removed(lines: Lines) -> None:
    del lines[3]


def added(lines: Lines) -> None:
    lines.insert(3, lines[3])


def cut(lines: Lines) -> None:
    del lines[-1]


BROKEN: dict[str, tuple[dict[str, Callable[[Any], Any]], str]] = {
    "changed text": ({"events": changed}, "the text of event 5 was changed"),
    "changed column": ({"events": column}, "link 5 does not follow"),
    "pretended erasure": ({"events": pretended}, "event 6 was erased without a deed on record"),
    "missing": ({"events": removed, "links": removed}, "link 4 is missing"),
    "missing event": ({"events": removed}, "link 4 stands beside another event"),
    "moved": ({"events": moved, "links": moved}, "link 4 is missing"),
    "moved event": ({"events": moved}, "link 4 stands beside another event"),
    "added": ({"events": added, "links": added}, "link 5 is there twice or out of its place"),
    "added event": ({"events": added}, "link 5 stands beside another event"),
    "cut": ({"events": cut, "links": cut}, "cut or added to"),
    "cut link": ({"links": cut}, "an event has no link"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_whatever_is_done_to_it_is_found_even_under_a_good_signature(exported: Path, what: str) -> None:
    changes, words = BROKEN[what]
    code, said = found(rewritten(exported, **changes))
    assert (code, words in said) == (1, True), said
    assert "SIGNATURE  good" in said


def test_another_key_or_manifest_is_found(exported: Path) -> None:
    code, said = found(rewritten(exported, signed=False, manifest=lambda told: told.update(links=3)))
    assert (code, "SIGNATURE  BAD" in said) == (1, True)
    with override_settings(AVAL_SIGNING_KEY=base64.b64decode(signing.new_key())):
        other = signing.public_pem()
        forged = rewritten(exported, manifest=lambda _told: None)
        assert found(forged)[0] == 1, "signed with another key than the one in it"
    code, said = found(exported, other)
    assert (code, "SIGNATURE  BAD" in said and "(given)" in said) == (1, True)


def test_a_rotated_key_leaves_older_exports_good(told: Cast, exported: Path, tmp_path: Path) -> None:
    with override_settings(AVAL_SIGNING_KEY=base64.b64decode(signing.new_key())):
        call_command("export_audit", told.company.slug, tmp_path / "newer.zip", stdout=io.StringIO())
        keys = {found(path)[1].split("KEY        ")[1][:64] for path in (exported, tmp_path / "newer.zip")}
    assert len(keys) == 2
    with told.scope():
        assert {event.told["key"] for event in AuditEvent.objects.filter(kind="audit.exported")} == keys
    with override_settings(SECRET_KEY="another" * 10):
        assert signing.fingerprint() not in keys, "where none is set, it follows from SECRET_KEY"


def test_a_long_record_is_made_piece_by_piece(told: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "PIECE", 3)
    with told.scope():
        for number in range(40):
            audit.record("note.added", by=None, noise=os.urandom(4000).hex(), number=number)
        begun = export.begin(told.company, by=told.owner)
    parts = [part for part in export.pieces(begun) if part]
    assert len(parts) > 10
    assert max(map(len, parts)) < 40_000, "no piece holds more than some events"
    with told.scope():
        audit.record("note.added", by=None, late=True)
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"{told.company.slug}.zip"  # noqa: S108
    try:
        path.write_bytes(b"".join(parts))
        assert found(path)[0] == 0
    finally:
        path.unlink()


def test_the_command_overwrites_nothing_and_knows_its_companies(told: Cast, exported: Path) -> None:
    with pytest.raises(CommandError, match="exists already"):
        call_command("export_audit", told.company.slug, exported)
    with pytest.raises(CommandError, match="no company called nobody"):
        call_command("export_audit", "nobody", exported)
    out = io.StringIO()
    call_command("signing_key", stdout=out)
    assert out.getvalue().startswith(f"fingerprint {signing.fingerprint()}\n-----BEGIN PUBLIC KEY-----")
    out = io.StringIO()
    call_command("signing_key", "--new", stdout=out)
    assert len(base64.b64decode(out.getvalue())) == 32


# The pages


def browser(cast: Cast, name: str) -> Browser:
    made = Browser()
    made.force_login(cast[name].user)
    return made


@pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume")
def test_heads_export_with_their_password(told: Cast, tmp_path: Path) -> None:
    own = browser(told, "sam")
    assert signing.fingerprint() in own.get("/audit/export/").content.decode()
    assert own.get("/audit/key.pem").content == signing.public_pem()
    refused = own.post("/audit/export/", {"password": "wrong"})
    assert (refused.status_code, "That is not your password." in refused.content.decode()) == (422, True)
    with told.scope():
        assert not AuditEvent.objects.filter(kind="audit.exported").exists()
    answer = own.post("/audit/export/", {"password": PASSWORD})
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/zip")
    assert told.company.slug in answer["Content-Disposition"]
    path = tmp_path / "got.zip"
    path.write_bytes(b"".join(answer))
    connection.close()
    assert found(path)[0] == 0
    with told.scope():
        assert AuditEvent.objects.get(kind="audit.exported").actor == told.sam


@pytest.mark.parametrize("page", ["/audit/export/", "/audit/key.pem", "/audit/erase/"])
def test_others_find_no_export_and_nothing_to_erase(told: Cast, page: str) -> None:
    assert browser(told, "alex").get(page).status_code == 404
    assert Browser().get(page).status_code == 302
    assert permissions.TABLE["erase_audit"] == {"owner"}
    assert browser(told, "sam").get(page).status_code == (404 if "erase" in page else 200)


def test_an_owner_erases_on_a_page_once(lone_ridge: Cast) -> None:
    with lone_ridge.scope():
        john_smith(lone_ridge)
    own = browser(lone_ridge, "dana")
    shown = own.get("/audit/erase/", {"about": "c-0001"}).content.decode()
    assert "John Smith" in shown and "1 event says something of this person." in shown
    assert "There is no client, lead or member C-9" in own.get("/audit/erase/", {"about": "C-9"}).content.decode()
    form = {"about": "C-0001", "key": "0190f3a2-0000-7000-8000-0000000000aa", "reason": "Asked.", "password": "no"}
    refused = own.post("/audit/erase/", form)
    assert (refused.status_code, "That is not your password." in refused.content.decode()) == (422, True)
    for _ in range(2):
        done = own.post("/audit/erase/", form | {"password": PASSWORD})
        assert (done.status_code, done["Location"]) == (303, "/audit/?kind=audit.erased")
    assert "1 event was erased." in own.get("/audit/").content.decode()
    with lone_ridge.scope():
        assert AuditEvent.objects.filter(kind="audit.erased").count() == 1
        assert audit.verify().whole
