"""The record of a company as a zip: events and links as JSON lines, a signed manifest, and a program that verifies it.

It is made piece by piece, each read in a transaction of its own, so a million events take no more memory than two
thousand; since links are only ever added, the pieces fit together up to the head with which the export began.
"""

import hashlib
import io
import json
import uuid
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.utils import timezone

from ledger import audit, chain, permissions, tenancy
from ledger.chain import Place, Row
from ledger.models import Company, Membership
from ledger.record import signing, verify

PIECE = 2000
COMPRESSION = 3


@dataclass(frozen=True)
class Begun:
    """An export that is on record: of which company, for whom, when."""

    tenant_id: uuid.UUID
    slug: str
    name: str
    by: str
    at: datetime


def begin(company: Company, *, by: Membership | None, **more: Any) -> Begun:
    """Put the export on record, in the company's scope. Raises NotAllowed. `by` is None for a command."""
    if by is not None:
        permissions.require(by, "export_audit")
    audit.record("audit.exported", by=by, key=signing.fingerprint(), **more)
    return Begun(company.pk, company.slug, company.name, by.name if by else "", timezone.now())


def pieces(begun: Begun) -> Iterator[bytes]:
    """The bytes of the zip, some at a time. Called when `begin` has committed, outside any scope; opens its own."""
    with tenancy.tenant(begun.tenant_id):
        top = chain.head()
    out = _Pipe()
    told: dict[str, dict[str, Any]] = {}
    archive = zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION)
    with archive:
        for name, told_of in ((verify.EVENTS, _event), (verify.LINKS, _link)):
            yield from _file(archive, out, begun, top, name, told_of, told)
        program = Path(verify.__file__).read_bytes()
        told["verify.py"] = {"sha256": hashlib.sha256(program).hexdigest(), "bytes": len(program)}
        manifest = _manifest(begun, top, told)
        for name, content in (
            ("verify.py", program),
            (verify.MANIFEST, manifest),
            (verify.SIGNATURE, signing.sign(manifest)),
            (verify.KEY, signing.public_pem()),
        ):
            archive.writestr(_entry(name, begun), content)
        yield out.take()
    yield out.take()


def name_of(begun: Begun) -> str:
    return f"record-{begun.slug}-{begun.at.astimezone(UTC):%Y%m%dT%H%M%SZ}.zip"


def _file(
    archive: zipfile.ZipFile,
    out: "_Pipe",
    begun: Begun,
    top: Place,
    name: str,
    told_of: Callable[[Row], dict[str, Any]],
    told: dict[str, dict[str, Any]],
) -> Iterator[bytes]:
    sha, size, lines, seq = hashlib.sha256(), 0, 0, 0
    with archive.open(_entry(name, begun), "w", force_zip64=True) as file:
        while seq < top.seq:
            with tenancy.tenant(begun.tenant_id):
                rows = list(chain.rows(seq, min(seq + PIECE, top.seq)))
            content = b"".join(_line(told_of(row)) for row in rows)
            sha.update(content)
            size, lines, seq = size + len(content), lines + len(rows), seq + PIECE
            file.write(content)
            if ready := out.take():
                yield ready
    told[name] = {"sha256": sha.hexdigest(), "bytes": size, "lines": lines}


def _event(row: Row) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "kind": row.kind,
        "at": row.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f+00:00"),
        "actor": str(row.actor) if row.actor else None,
        "door": row.door,
        "address": row.address,
        "subject_kind": row.subject_kind,
        "subject_id": str(row.subject) if row.subject else None,
        "salt": row.salt,
        "body": row.body,
    }


def _link(row: Row) -> dict[str, Any]:
    return {
        "seq": row.seq,
        "event": str(row.id),
        "version": row.version,
        "body_hash": row.body_hash,
        "hash": row.hash,
    }


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _manifest(begun: Begun, top: Place, files: dict[str, dict[str, Any]]) -> bytes:
    told = {
        "format": verify.FORMAT,
        "company": {"id": str(begun.tenant_id), "slug": begun.slug, "name": begun.name},
        "made_at": begun.at.astimezone(UTC).isoformat(timespec="seconds"),
        "made_for": begun.by,
        "links": top.seq,
        "head": top.hash,
        "files": files,
        "key": signing.fingerprint(),
    }
    return json.dumps(told, ensure_ascii=False, indent=1, sort_keys=True).encode() + b"\n"


def _entry(name: str, begun: Begun) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name, begun.at.astimezone(UTC).timetuple()[:6])
    made.compress_type, made.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    return made


class _Pipe(io.RawIOBase):
    """Where the zip is written to, and taken from before it grows. It cannot be sought, and zipfile does without."""

    def __init__(self) -> None:
        super().__init__()
        self._held: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self._held.append(bytes(content))
        return len(content)

    def take(self) -> bytes:
        held, self._held = b"".join(self._held), []
        return held
