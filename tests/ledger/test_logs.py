"""What the log must not hold, in messages and in tracebacks."""

import io
import logging

from ledger.logs import RedactSecrets

KEY = "sk-very-secret-key"


def logged(message: str, *args: object, error: Exception | None = None) -> str:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(RedactSecrets([KEY, "", "abc"]))
    logger = logging.Logger("test")
    logger.addHandler(handler)
    logger.error(message, *args, exc_info=error)
    return stream.getvalue()


def test_a_key_is_masked_wherever_it_stands() -> None:
    assert logged("sent %s to %s", KEY, f"endpoint?key={KEY}") == "sent *** to endpoint?key=***\n"


def test_a_key_inside_a_traceback_is_masked() -> None:
    try:
        raise ValueError(f"refused {KEY}")
    except ValueError as error:
        text = logged("failed", error=error)
    assert "ValueError: refused ***" in text
    assert KEY not in text


def test_a_public_pages_token_is_masked() -> None:
    assert logged("GET %s 200", "/q/AbCdEf0123456789/") == "GET /q/***/ 200\n"


def test_a_password_in_an_address_is_masked() -> None:
    assert logged("postgresql://aval:hunter22@db/aval") == "postgresql://aval:***@db/aval\n"


def test_a_short_word_is_not_taken_for_a_secret() -> None:
    assert logged("abc") == "abc\n"
