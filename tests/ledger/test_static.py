"""Static files are sent whole: no open file is left behind for the server to read."""

from pathlib import Path
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from ledger.static import StaticFilesMiddleware


@pytest.fixture(autouse=True)
def files(settings: Any, tmp_path: Path) -> None:
    (tmp_path / "page.css").write_text("body { color: black }")
    settings.STATIC_ROOT = str(tmp_path)
    settings.WHITENOISE_USE_FINDERS = False
    settings.WHITENOISE_AUTOREFRESH = False


def inner(request: HttpRequest) -> HttpResponse:
    return HttpResponse(f"view of {request.path}")


def request_for(path: str, **headers: str) -> HttpRequest:
    return RequestFactory().get(path, headers=headers)


def test_a_file_is_sent_whole_with_its_type(rf: RequestFactory) -> None:
    response = StaticFilesMiddleware(inner)(rf.get("/static/page.css"))
    assert isinstance(response, HttpResponse)
    assert (response.content, response["Content-Type"]) == (b"body { color: black }", 'text/css; charset="utf-8"')


def test_what_is_no_file_goes_to_the_view() -> None:
    for path in ("/static/none.css", "/c/", "/static/../page.css"):
        response = StaticFilesMiddleware(inner)(request_for(path))
        assert isinstance(response, HttpResponse)
        assert response.content.startswith(b"view of ")


def test_a_file_that_the_browser_has_is_not_sent_again() -> None:
    middleware = StaticFilesMiddleware(inner)
    first = middleware(request_for("/static/page.css"))
    assert isinstance(first, HttpResponse)
    again = middleware(request_for("/static/page.css", **{"If-Modified-Since": first["Last-Modified"]}))
    assert isinstance(again, HttpResponse)
    assert (again.status_code, again.content) == (304, b"")
