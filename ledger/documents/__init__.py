"""Documents that go to clients: what they say (`papers`), in which words (`wording`), as bytes (`typeset`)."""

from ledger.documents.papers import (
    Addressee,
    InvoiceDocument,
    Letterhead,
    Paper,
    PaperLine,
    QuoteDocument,
)
from ledger.documents.typeset import Rendered, first_page_png, invoice_pdf, quote_pdf, render

__all__ = [
    "Addressee",
    "InvoiceDocument",
    "Letterhead",
    "Paper",
    "PaperLine",
    "QuoteDocument",
    "Rendered",
    "first_page_png",
    "invoice_pdf",
    "quote_pdf",
    "render",
]
