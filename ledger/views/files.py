"""Stored documents as files: exactly the bytes of that fingerprint, or 404."""

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import get_object_or_404
from django.utils.cache import patch_cache_control

from ledger.models import StoredDocument


def stored(**which: object) -> StoredDocument:
    """The one document. Its bytes are read here and nowhere else."""
    document: StoredDocument = get_object_or_404(StoredDocument.objects.all(), **which)
    return document


def pdf_response(request: HttpRequest, document: StoredDocument, name: str) -> HttpResponse:
    """The PDF, to be opened here or framed by our own pages. Its name never changes what it holds."""
    return _answer(request, document, bytes(document.content), "application/pdf", f'inline; filename="{name}"')


def picture_response(request: HttpRequest, document: StoredDocument) -> HttpResponse:
    """The first page as a picture."""
    return _answer(request, document, bytes(document.preview), "image/png", "inline")


def _answer(
    request: HttpRequest, document: StoredDocument, content: bytes, kind: str, disposition: str
) -> HttpResponse:
    tag = f'"{document.sha256}"'
    response: HttpResponse = HttpResponseNotModified()
    if request.headers.get("If-None-Match") != tag:
        response = HttpResponse(content, content_type=kind)
        response["Content-Disposition"] = disposition
    response["ETag"] = tag
    response["X-Frame-Options"] = "SAMEORIGIN"
    response["X-Content-Type-Options"] = "nosniff"
    # Nothing else belongs to a file, and only our own pages may show it in a frame.
    response["Content-Security-Policy"] = "default-src 'none'; frame-ancestors 'self'"
    patch_cache_control(response, private=True, max_age=3600)
    return response
