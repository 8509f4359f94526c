"""Files that a person gives as evidence with a strong yes: what may be given, and how it is kept."""

import hashlib
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from assistant.models import Decision, EvidenceFile
from assistant.models.evidence import MOST_BYTES
from ledger.errors import DomainError
from ledger.text import clean_line

PDF, PNG, JPEG, WEBP = "application/pdf", "image/png", "image/jpeg", "image/webp"
ENDINGS = {PDF: ".pdf", PNG: ".png", JPEG: ".jpg", WEBP: ".webp"}
LONGEST_NAME = 100


@dataclass(frozen=True)
class Given:
    """A file as it came. `content` may stop after MOST_BYTES + 1 bytes: that is too much already."""

    name: str
    content: bytes

    @property
    def kind(self) -> str:
        """What the bytes themselves say that they are; "" for what is not taken. No name and no header counts."""
        head = self.content[:16]
        if head.startswith(b"%PDF-"):
            return PDF
        if head.startswith(b"\x89PNG\r\n\x1a\n"):
            return PNG
        if head.startswith(b"\xff\xd8\xff"):
            return JPEG
        return WEBP if head[:4] == b"RIFF" and head[8:12] == b"WEBP" else ""


def check(given: Given) -> None:
    """Raise NO_EVIDENCE with a sentence for a file that is too large, or none of those that are taken."""
    if len(given.content) > MOST_BYTES:
        megabytes = MOST_BYTES // 1024**2
        raise DomainError("NO_EVIDENCE", _("That file is too large: at most %(most)s MB.") % {"most": megabytes})
    if not given.kind:
        raise DomainError("NO_EVIDENCE", _("As evidence a PDF or a picture (PNG, JPEG, WebP) can be given."))


def described(given: Given) -> dict[str, Any]:
    """What the decision and the record say of the file. Its name's ending is that of what it is."""
    stem = clean_line(given.name).replace("\\", "/").rpartition("/")[2].rpartition(".")[0]
    kept = "".join(char for char in stem if char.isalnum() or char in " ._-").strip(" .")[:LONGEST_NAME]
    return {
        "name": (kept or "evidence") + ENDINGS[given.kind],
        "kind": given.kind,
        "size": len(given.content),
        "sha256": hashlib.sha256(given.content).hexdigest(),
    }


def keep(decision: Decision, given: Given) -> None:
    EvidenceFile.objects.create(decision=decision, content=given.content)
