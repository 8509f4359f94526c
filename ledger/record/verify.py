#!/usr/bin/env python3
"""Verify an exported record: python3 verify.py EXPORT.zip [--key KEY.pem]

Every event of one company is in events.jsonl, one on each line; links.jsonl has the chain, line for line beside it.
This program makes each link again from the event and the link before it, so it finds whatever was changed, left out,
moved, added or cut off. The manifest says how long the chain is, where it ends, and what each file's SHA-256 is; an
Ed25519 signature of the installation stands over it. Events that an owner erased have no text left; each must be named
by the deed that erased it, which is an event of the chain itself.

Only Python's own library is needed for the chain. For the signature the package `cryptography` is used where it is
installed, else the command `openssl`; which of them, or that neither could, is said at the end. Without --key the key
is that of the export itself: compare its fingerprint with the one that the installation gave you by another way.

Ends with 0: whole, and the signature is good. 1: something is wrong. 2: whole, but the signature was not checked.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import itertools
import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

FORMAT = "aval-record/1"
GENESIS = "0" * 64
EVENTS, LINKS, MANIFEST, SIGNATURE, KEY = "events.jsonl", "links.jsonl", "manifest.json", "manifest.sig", "key.pem"
ERASED = re.compile(r'\{"erased":"([0-9a-f-]{36})"\}')
COLUMNS = ("id", "kind", "actor", "door", "address", "subject_kind", "subject_id")
LONGEST_LINE = 64 * 1024 * 1024


class Wrong(Exception):
    """What is wrong with the record, in one sentence."""


def digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def moment(text: str) -> str:
    """An instant in UTC to the microsecond, as the chain has it."""
    at = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return at.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")  # noqa: UP017 (older Pythons)


class Ranges:
    """Numbers that come in ascending order, kept as ranges."""

    def __init__(self) -> None:
        self.pairs: list[list[int]] = []

    def add(self, number: int) -> None:
        if self.pairs and self.pairs[-1][1] == number - 1:
            self.pairs[-1][1] = number
        else:
            self.pairs.append([number, number])

    def outside(self, others: list[list[int]]) -> int | None:
        """The first of these numbers that is in none of the other ranges."""
        ordered = sorted(others)
        for first, last in self.pairs:
            at = first
            for low, high in ordered:
                if low <= at <= high:
                    at = high + 1
            if at <= last:
                return at
        return None


class Reading:
    """The chain, link by link."""

    def __init__(self, tenant: str) -> None:
        self.tenant, self.seq, self.hash = tenant, 0, GENESIS
        self.erased: dict[str, Ranges] = {}
        self.deeds: dict[str, list[list[int]]] = {}

    def take(self, event: dict[str, Any], link: dict[str, Any]) -> None:
        at = self.seq + 1
        if link["seq"] != at:
            more = "missing" if link["seq"] > at else "there twice or out of its place"
            raise Wrong(f"link {at} is {more}")
        if event["id"] != link["event"]:
            raise Wrong(f"link {at} stands beside another event: one was moved, added or left out")
        self.made_again(event, link, at)
        self.seq, self.hash = at, link["hash"]

    def made_again(self, event: dict[str, Any], link: dict[str, Any], at: int) -> None:
        body, salt = event["body"], event["salt"]
        if link["version"] == 1:
            made, intact = digest(self.hash, body), True
        elif link["version"] == 2:
            said = [self.tenant, event["id"], event["kind"], moment(event["at"]), event["actor"], event["door"]]
            core = json.dumps([*said, event["subject_kind"], event["subject_id"]], ensure_ascii=False)
            made = digest("2", self.hash, core, link["body_hash"])
            intact = digest(salt, body) == link["body_hash"]
        else:
            raise Wrong(f"link {at} is of version {link['version']}, which this program does not know")
        if made != link["hash"]:
            raise Wrong(f"link {at} does not follow: it, its event or the one before it was changed or left out")
        if not intact:
            deed = ERASED.fullmatch(body)
            if deed is None or salt or event["address"]:
                raise Wrong(f"the text of event {at} was changed")
            self.erased.setdefault(deed.group(1), Ranges()).add(at)
            return
        told = json.loads(body)
        if [told[name] for name in COLUMNS] != [event[name] for name in COLUMNS]:
            raise Wrong(f"the columns of event {at} do not say what its text says")
        if moment(told["at"]) != moment(event["at"]):
            raise Wrong(f"the time of event {at} is not that of its text")
        if event["kind"] == "audit.erased":
            self.deeds[event["id"]] = told["detail"]["links"]

    def end(self, manifest: dict[str, Any]) -> None:
        if (self.seq, self.hash) != (manifest["links"], manifest["head"]):
            said = f"{manifest['links']} ({manifest['head']})"
            raise Wrong(f"the chain ends at link {self.seq} ({self.hash}), the manifest says {said}: cut or added to")
        for deed, numbers in self.erased.items():
            unnamed = numbers.outside(self.deeds.get(deed, []))
            if unnamed is not None:
                raise Wrong(f"event {unnamed} was erased without a deed on record")


class Counted:
    """The lines of a file in the archive, with the SHA-256 of all its bytes."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self.file, self.sha = archive.open(name), hashlib.sha256()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while True:
            raw = self.file.readline(LONGEST_LINE)
            if not raw:
                return
            self.sha.update(raw)
            yield json.loads(raw.decode("utf-8"))


def read(archive: zipfile.ZipFile, manifest: dict[str, Any]) -> Reading:
    """Read both files side by side. Raises Wrong."""
    reading = Reading(manifest["company"]["id"])
    files = [Counted(archive, EVENTS), Counted(archive, LINKS)]
    for event, link in itertools.zip_longest(*files):
        if event is None or link is None:
            what = "a link has no event" if event is None else "an event has no link"
            raise Wrong(f"{what} behind link {reading.seq}")
        try:
            reading.take(event, link)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Wrong(f"link {reading.seq + 1} cannot be read: {error!r}") from None
    reading.end(manifest)
    for name, file in zip((EVENTS, LINKS), files):  # noqa: B905 (older Pythons)
        if file.sha.hexdigest() != manifest["files"][name]["sha256"]:
            raise Wrong(f"{name} is not the file that the manifest is of")
    return reading


def checked(manifest: bytes, signature: bytes, key: bytes) -> tuple[str, bool | None]:
    """(what it was checked with, whether it is good); good is None where nothing here could check it."""
    try:
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 (only where it is installed)
        from cryptography.hazmat.primitives.serialization import load_pem_public_key  # noqa: PLC0415
    except ImportError:
        return by_openssl(manifest, signature, key)
    try:
        load_pem_public_key(key).verify(signature, manifest)  # type: ignore[call-arg,union-attr]
    except (InvalidSignature, ValueError, TypeError, AttributeError):
        return "the Python package cryptography", False
    return "the Python package cryptography", True


def by_openssl(manifest: bytes, signature: bytes, key: bytes) -> tuple[str, bool | None]:
    program = shutil.which("openssl")
    if program is None:
        return "", None
    with tempfile.TemporaryDirectory() as folder:
        names = [Path(folder) / name for name in (MANIFEST, SIGNATURE, KEY)]
        for path, content in zip(names, (manifest, signature, key)):  # noqa: B905
            path.write_bytes(content)
        text, mark, pem = map(str, names)
        command = [program, "pkeyutl", "-verify", "-pubin", "-inkey", pem, "-rawin", "-in", text, "-sigfile", mark]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    if done.returncode == 0 and "Verified Successfully" in said:
        return "the command openssl", True
    if "Verification Failure" in said:
        return "the command openssl", False
    return "", None


def fingerprint(key: bytes) -> str:
    """SHA-256 of the 32 bytes of the public key, in hex; they are the last ones of its PEM."""
    body = b"".join(line for line in key.splitlines() if not line.startswith(b"-----"))
    return hashlib.sha256(base64.b64decode(body)[-32:]).hexdigest()


def verify(path: str | Path, trusted: bytes | None = None, say: Any = print) -> int:
    """Say what was found; the number to end with."""
    with zipfile.ZipFile(path) as archive:
        text, signature, key = (archive.read(name) for name in (MANIFEST, SIGNATURE, KEY))
        signature = base64.b64decode(signature)
        manifest = json.loads(text.decode("utf-8"))
        if manifest.get("format") != FORMAT:
            raise Wrong(f"this is no export of the format {FORMAT}")
        company = manifest["company"]
        say(f"The record of {company['name']} ({company['slug']}, {company['id']}) of {manifest['made_at']}")
        try:
            reading: Reading | None = read(archive, manifest)
            chain = ""
        except Wrong as wrong:
            reading, chain = None, str(wrong)
    if reading:
        erased = sum(last - first + 1 for one in reading.erased.values() for first, last in one.pairs)
        say(f"CHAIN      whole: {reading.seq} links, head {reading.hash}; {erased} events erased by deeds on record")
    else:
        say(f"CHAIN      BROKEN: {chain}")
    means, good = checked(text, signature, trusted or key)
    whose = "given" if trusted else "from the export itself: compare it"
    say(f"KEY        {fingerprint(trusted or key)} ({whose})")
    if good is None:
        say("SIGNATURE  NOT CHECKED: neither the Python package cryptography nor an openssl with Ed25519 is here")
    else:
        say(f"SIGNATURE  {'good' if good else 'BAD'}, checked with {means}")
    if chain or good is False:
        return 1
    return 0 if good else 2


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("export", help="the zip file")
    parser.add_argument("--key", help="the installation's public key as you got it by another way, a PEM file")
    given = parser.parse_args()
    try:
        trusted = Path(given.key).read_bytes() if given.key else None
        return verify(given.export, trusted)
    except (Wrong, OSError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        print(f"BROKEN: {error}")  # noqa: T201
        return 1


if __name__ == "__main__":
    sys.exit(main())
