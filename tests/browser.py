"""A real Chromium, Debian's, driven by Playwright. Playwright's own browsers are never downloaded."""

import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connections
from playwright.sync_api import Browser, Page, Route, sync_playwright

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LOCAL = re.compile(r"^https?://(localhost|127\.0\.0\.1)(:\d+)?/")
NewPage = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for each module: Playwright keeps an event loop, which asynchronous tests elsewhere must not find."""
    unsafe = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    with sync_playwright() as playwright:
        # Playwright's loop runs in this thread, so Django would take a test's own queries for asynchronous code.
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS)
        yield chromium
        chromium.close()
        # While the loop runs Django keeps this thread's connections apart: nobody else could close them later.
        connections.close_all()
    if unsafe is None:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def new_page(browser: Browser) -> Iterator[NewPage]:
    """Opens pages, each a person of its own (no shared cookies); options go to Playwright's new_context.

    The test fails if a page of it threw, broke the content security policy or asked for another host.
    """
    problems: list[str] = []
    contexts: list[Any] = []

    def outside(route: Route) -> None:
        problems.append(f"asked for {route.request.url}")
        route.abort()

    def open_page(**options: Any) -> Page:
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        contexts.append(context)
        context.route(lambda url: not LOCAL.match(url) and not url.startswith("data:"), outside)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(f"threw {error}"))
        page.on("console", lambda line: _note(problems, line.type, line.text))
        page.set_default_timeout(15_000)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture
def page(new_page: NewPage) -> Page:
    """One page on a desktop's screen."""
    return new_page()


def _note(problems: list[str], kind: str, text: str) -> None:
    """An answer of 4xx and a fetch without a network are printed as errors too; tests assert those by themselves."""
    if kind == "error" and "Failed to load resource" not in text and "Failed to fetch" not in text:
        problems.append(text)
