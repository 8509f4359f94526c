"""From an endpoint's error, as a status or inside the stream, to the one class that says what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from assistant.agent.failures import (
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelRejectedRequest,
    ModelUnavailable,
)

_TOO_LONG = ("context_length", "context length", "context window", "maximum context", "prompt is too long")
_FILTERED = ("content_filter", "content_policy", "responsibleai", "content management policy")
_NO_QUOTA = ("insufficient_quota", "billing_hard_limit_reached", "credit balance is too low")


def from_status(status: int, headers: Mapping[str, str], body: Any, *, now: datetime | None = None) -> ModelError:
    """The error of an answer that is not 200."""
    words, sentence = _words(body)
    wait = retry_after(headers, now or datetime.now(UTC))
    return _classify(status, words, sentence or f"status {status}", wait)


def from_stream(body: Any) -> ModelError:
    """The error that came as an event of a stream which had begun with 200."""
    words, sentence = _words(body)
    inner = body.get("error") if isinstance(body, dict) and isinstance(body.get("error"), dict) else body
    code = str(inner.get("code") if isinstance(inner, dict) else "")
    status = int(code) if len(code) == 3 and code.isdecimal() else 0
    return _classify(status, words, sentence or "error inside the stream", None)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that the endpoint asks us to wait: `retry-after-ms`, or Retry-After as seconds or as an HTTP
    date.
    """
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return _seconds(float(milliseconds) / 1000)
        value = headers.get("retry-after", "").strip()
        if not value:
            return None
        if value.replace(".", "", 1).isdigit():
            return _seconds(float(value))
        moment = parsedate_to_datetime(value)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return _seconds(max(0.0, (moment - now).total_seconds()))
    except (ValueError, TypeError, OverflowError):
        return None


def _seconds(value: float) -> float | None:
    return value if 0 <= value < 10**9 else None


def _classify(status: int, words: str, sentence: str, wait: float | None) -> ModelError:
    if any(word in words for word in _FILTERED):
        return ModelRefused()
    if any(word in words for word in _TOO_LONG):
        return ModelRejectedRequest(sentence, status=status or None, code="too_long")
    if any(word in words for word in _NO_QUOTA):
        return ModelRateLimited(sentence, retry_after=wait, code="no_quota", retryable=False)
    if status == 429 or "rate_limit" in words or "rate limit" in words or "too many requests" in words:
        return ModelRateLimited(sentence, retry_after=wait)
    if status in (401, 403):
        return ModelUnavailable("credentials", sentence, status=status, retryable=False)
    if status == 404:
        return ModelUnavailable("not_found", sentence, status=status, retryable=False)
    if status in (408, 409, 425) or status >= 500 or status == 0:
        if status == 0 and "invalid_request" in words:
            return ModelRejectedRequest(sentence)
        return ModelUnavailable("server", sentence, status=status or None, retry_after=wait)
    if 300 <= status < 400:
        return ModelUnavailable("not_a_model", "the endpoint redirects", status=status, retryable=False)
    return ModelRejectedRequest(sentence, status=status)


def _words(body: Any) -> tuple[str, str]:
    """Everything an error says, in lower case, and its sentence for the log (500 characters at most)."""
    if isinstance(body, dict) and "error" in body:
        body = body["error"]
    if not isinstance(body, dict):
        text = body if isinstance(body, str) else ""
        return text.lower()[:2000], text[:500]
    inner = body.get("innererror")
    said = [body.get("code"), body.get("type"), body.get("message"), body.get("detail")]
    said.append(inner.get("code") if isinstance(inner, dict) else None)
    sentence = body.get("message") or body.get("detail")
    words = " ".join(str(word) for word in said if word is not None).lower()
    return words[:2000], sentence[:500] if isinstance(sentence, str) else ""
