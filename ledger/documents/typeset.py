"""From a document's values to its bytes: PDF and PNG by Typst, from a template here, the same bytes every time.

The document's date is none and only the fonts in this folder are used, so equal values give equal bytes on any
machine: the SHA-256 on a card is that of the file which is sent. About 30 ms of CPU a page; not inside a lock.
"""

import hashlib
import json
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typst

from ledger.documents.papers import InvoiceDocument, Paper, QuoteDocument
from ledger.documents.wording import words_of

FOLDER = Path(__file__).parent
PREVIEW_PPI = 110.0
PAPER = "paper.typ"

_ACCESSIBLE = "ua-1"  # PDF/UA-1: tagged for screen readers; refuses text that no font here can show
_local = threading.local()


@dataclass(frozen=True, slots=True)
class Rendered:
    """A finished document: its PDF, its first page as PNG, its number of pages.

    `complete` is false where a character is in none of the fonts and prints as an empty box.
    """

    content: bytes
    preview: bytes
    pages: int
    complete: bool

    @property
    def sha256(self) -> str:
        """The SHA-256 of the PDF, in hexadecimal."""
        return hashlib.sha256(self.content).hexdigest()


def render(paper: Paper) -> Rendered:
    """PDF, preview and page count of a document at once."""
    words = _words(paper)
    content, complete = _pdf(words)
    pages = _png_pages(words, PREVIEW_PPI)
    return Rendered(content, pages[0], len(pages), complete)


def quote_pdf(document: QuoteDocument) -> bytes:
    """The PDF of a quote."""
    return _pdf(_words(document))[0]


def invoice_pdf(document: InvoiceDocument) -> bytes:
    """The PDF of an invoice."""
    return _pdf(_words(document))[0]


def first_page_png(document: Paper, ppi: float = PREVIEW_PPI) -> bytes:
    """The first page as people will see it, for a card or a list; `ppi` dots an inch."""
    return _png_pages(_words(document), ppi)[0]


def pdf(template: str, words: str) -> bytes:
    """The PDF of a template of this folder, which reads its texts from one JSON value."""
    return _pdf(words, template)[0]


def _words(paper: Paper) -> str:
    return json.dumps(words_of(paper), ensure_ascii=False, sort_keys=True)


def _pdf(words: str, template: str = PAPER) -> tuple[bytes, bool]:
    try:
        return _compile(words, template, format="pdf", pdf_standards=_ACCESSIBLE), True
    except typst.TypstError as refused:
        if "could not be displayed" not in str(refused):
            raise
        return _compile(words, template, format="pdf"), False


def _png_pages(words: str, ppi: float) -> list[bytes]:
    pages = _compile(words, PAPER, format="png", ppi=ppi)
    return pages if isinstance(pages, list) else [pages]


def _compile(words: str, template: str, **options: Any) -> Any:
    """Texts go in as one JSON value, never as markup. A compiler serves one thread at a time."""
    compilers: dict[str, typst.Compiler] = _local.__dict__.setdefault("compilers", {})
    if template not in compilers:
        compilers[template] = typst.Compiler(
            input=str(FOLDER / template),
            root=str(FOLDER),
            font_paths=[str(FOLDER / "fonts")],
            ignore_system_fonts=True,
        )
    return compilers[template].compile(sys_inputs={"words": words}, **options)
