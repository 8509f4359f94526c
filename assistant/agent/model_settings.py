"""Which model answers, and how long we wait for it."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from django.conf import settings

from assistant.agent.replies import Limits

OPENAI: Final = "https://api.openai.com/v1"
REHEARSAL_MODEL: Final = "rehearsal"


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """One endpoint and model. All times are seconds.

    `idle_seconds`: a stream that is silent for longer is interrupted. `total_seconds`: one reply, retries
    included. `longest_wait_seconds`: an endpoint that asks for a longer pause (Retry-After) is not waited
    for.
    """

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    query: tuple[tuple[str, str], ...] = ()
    temperature: float | None = None
    max_output_tokens: int | None = None
    asks_usage: bool = True
    developer_role: bool | None = None
    connections: int = 400
    connect_seconds: float = 5.0
    idle_seconds: float = 120.0
    total_seconds: float = 600.0
    retries: int = 3
    first_wait_seconds: float = 0.5
    longest_wait_seconds: float = 30.0
    limits: Limits = field(default_factory=Limits)

    @classmethod
    def from_django(cls, *, rehearsal_url: str = "") -> ModelSettings:
        """Read Django's settings; with neither endpoint nor key set, the rehearsal model at `rehearsal_url`.

        Raises:
            ValueError: nothing is set, and no rehearsal model is given.
        """
        base_url, api_key = settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY
        if not base_url and not api_key:
            if not rehearsal_url:
                raise ValueError("No model endpoint is set and no rehearsal model is running.")
            return cls(base_url=rehearsal_url, model=REHEARSAL_MODEL, developer_role=True)
        address, query = split_query(base_url or OPENAI)
        return cls(base_url=address, query=query, model=settings.OPENAI_MODEL, api_key=api_key, **_chosen())

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).hostname or ""

    @property
    def azure(self) -> bool:
        return self.host.endswith((".azure.com", ".azure.us", ".azure.cn"))

    @property
    def takes_developer(self) -> bool:
        """Whether the endpoint knows the role `developer`. Only OpenAI's own and Azure's do for certain."""
        if self.developer_role is not None:
            return self.developer_role
        return self.host == "api.openai.com" or self.azure

    @property
    def length_parameter(self) -> str:
        """The name by which the endpoint knows the bound of a reply's tokens."""
        return "max_completion_tokens" if self.host == "api.openai.com" or self.azure else "max_tokens"

    @property
    def loopback(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def split_query(base_url: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Take a query such as Azure's `?api-version=…` off the address: the path is appended before it."""
    parts = urlsplit(base_url)
    return urlunsplit(parts._replace(query="", fragment="")), tuple(parse_qsl(parts.query))


def _chosen() -> dict[str, Any]:
    """What the installation sets beyond endpoint, key and model."""
    names = {
        "temperature": "OPENAI_TEMPERATURE",
        "max_output_tokens": "OPENAI_MAX_OUTPUT_TOKENS",
        "asks_usage": "OPENAI_STREAM_USAGE",
        "developer_role": "OPENAI_DEVELOPER_ROLE",
        "connections": "OPENAI_CONNECTIONS",
        "idle_seconds": "OPENAI_IDLE_SECONDS",
        "total_seconds": "OPENAI_TOTAL_SECONDS",
    }
    found = {name: getattr(settings, setting, None) for name, setting in names.items()}
    return {name: value for name, value in found.items() if value is not None}
