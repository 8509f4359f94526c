"""Reading settings from the environment, with one clear line for what is wrong."""

import base64
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import SplitResult, unquote, urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

IDLE_IN_TRANSACTION_SECONDS = 120
"""How long a transaction may stand still before the server ends it, with its locks. Meant for a process that hangs or a
host that is gone. The longest that ours rest between two statements is a tool that computes (30 seconds), and nothing
in the worker outlives the queue's own limit for a task (AVAL_QUEUE_TIMEOUT, 90); models and providers are called
outside transactions."""


@dataclass(frozen=True)
class Environment:
    """Typed access to variables; an empty one counts as not set. Every refusal is ImproperlyConfigured."""

    variables: Mapping[str, str]

    def refuse(self, name: str, why: str) -> NoReturn:
        raise ImproperlyConfigured(f"{name} {why}.")

    def text(self, name: str, default: str = "") -> str:
        return self.variables.get(name, "").strip() or default

    def required(self, name: str, why: str) -> str:
        return self.text(name) or self.refuse(name, f"is not set: {why}")

    def words(self, name: str) -> list[str]:
        return [word.strip() for word in self.text(name).split(",") if word.strip()]

    def choice(self, name: str, allowed: tuple[str, ...], default: str) -> str:
        value = self.text(name, default)
        return value if value in allowed else self.refuse(name, f"is {value!r}; it may be {', '.join(allowed)}")

    def flag(self, name: str, default: bool) -> bool:
        match self.text(name).lower():
            case "":
                return default
            case "1" | "true" | "yes" | "on":
                return True
            case "0" | "false" | "no" | "off":
                return False
            case value:
                return self.refuse(name, f"is {value!r}; it may be 1 or 0")

    def number(self, name: str, default: int) -> int:
        value = self.text(name, str(default))
        if not (value.isascii() and value.isdigit() and int(value) > 0):
            self.refuse(name, f"is {value!r}; it must be a whole number above zero")
        return int(value)

    def key(self, name: str, size: int) -> bytes:
        """So many bytes in base64; none where it is not set."""
        try:
            key = base64.b64decode(self.text(name), validate=True)
        except ValueError:
            key = b"?"
        return key if len(key) in (0, size) else self.refuse(name, f"must be {size} bytes in base64")

    def seconds(self, name: str, default: float) -> float:
        value = self.text(name, str(default))
        try:
            amount = float(value)
        except ValueError:
            amount = -1
        return amount if 0 < amount < 86_400 else self.refuse(name, f"is {value!r}; it must be seconds, such as 0.05")

    def web_address(self, name: str, value: str) -> SplitResult:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            self.refuse(name, f"is {value!r}; it must start with http:// or https:// and name a host")
        return parts


def development_key(data_dir: Path) -> str:
    """The development installation's own key: made once, readable by its owner only."""
    path = data_dir / "secret_key"
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            made = data_dir / f"secret_key.{os.getpid()}"
            made.touch(mode=0o600)
            made.write_text(secrets.token_urlsafe(64))
            try:
                os.link(made, path)  # the first of two processes wins, and both read the same key
            except FileExistsError:
                pass
            finally:
                made.unlink()
        return path.read_text()
    except OSError as error:
        raise ImproperlyConfigured(f"AVAL_DATA_DIR {data_dir} cannot be used: {error.strerror}.") from None


def connection(name: str, url: str) -> dict[str, Any]:
    """The parts of a postgresql:// address as Django names them; OPTIONS are libpq's alone."""
    if urlsplit(url).scheme not in ("postgresql", "postgres"):
        raise ImproperlyConfigured(f"{name} must be a postgresql:// address: the gate stands on PostgreSQL's locks.")
    try:
        settings: dict[str, Any] = dict(dj_database_url.parse(url))
    except ValueError:
        raise ImproperlyConfigured(f"{name} is not a well-formed postgresql:// address.") from None
    options = settings.setdefault("OPTIONS", {})
    options.setdefault("connect_timeout", 10)
    return settings


def database(name: str, url: str, *, pool: int, behind_bouncer: bool) -> dict[str, Any]:
    """Django's connection settings of a postgresql:// address; `pool` is the most connections, 0 for no pool."""
    settings = connection(name, url)
    options = settings["OPTIONS"]
    if pool:
        options["pool"] = {"min_size": 1, "max_size": pool, "max_waiting": 20 * pool, "timeout": 10}
    else:
        settings["CONN_MAX_AGE"] = 60
    # Asked before each use: after a restart of the database no request meets a connection that is gone.
    settings["CONN_HEALTH_CHECKS"] = True
    if behind_bouncer:
        options["prepare_threshold"] = None
        settings["DISABLE_SERVER_SIDE_CURSORS"] = True
    else:
        # The server keeps the plans of what is asked again and again. Django's own default is to make them anew.
        options |= {"server_side_binding": True, "prepare_threshold": 3}
        # A bouncer refuses settings of a session, and has idle_transaction_timeout instead. What the address says wins.
        bound = f"-c idle_in_transaction_session_timeout={IDLE_IN_TRANSACTION_SECONDS * 1000}"
        options["options"] = f"{bound} {options.get('options', '')}".strip()
    return settings


def pool_size(database: Mapping[str, Any]) -> int:
    """The most connections that this process may hold; 8 where it has no pool."""
    pool = database.get("OPTIONS", {}).get("pool")
    return int(pool["max_size"]) if isinstance(pool, dict) else 8


def owner_database(url: str, runtime: Mapping[str, Any]) -> dict[str, Any]:
    """The connection settings of DATABASE_OWNER_URL, a role other than the one that the product runs as; {} without."""
    if not url:
        return {}
    settings = database("DATABASE_OWNER_URL", url, pool=0, behind_bouncer=False)
    if settings["USER"] == runtime["USER"]:
        raise ImproperlyConfigured("DATABASE_OWNER_URL names the role of DATABASE_URL: name another or leave it out.")
    return settings


@dataclass(frozen=True)
class Mail:
    """Where mail goes out."""

    backend: str = "django.core.mail.backends.dummy.EmailBackend"
    host: str = "localhost"
    port: int = 25
    user: str = ""
    password: str = ""
    starttls: bool = False
    tls: bool = False


def mail(url: str) -> Mail:
    """smtp:// is plain, smtp+tls:// upgrades by STARTTLS, smtps:// is TLS from the first byte. Empty: no real mail."""
    if not url:
        return Mail()
    ports = {"smtp": 25, "smtp+tls": 587, "smtps": 465}
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ImproperlyConfigured("EMAIL_URL is not a well-formed address.") from None
    if parts.scheme not in ports or not parts.hostname:
        raise ImproperlyConfigured("EMAIL_URL must look like smtp+tls://user:password@host:587 (or smtp://, smtps://).")
    return Mail(
        backend="django.core.mail.backends.smtp.EmailBackend",
        host=parts.hostname,
        port=port or ports[parts.scheme],
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        starttls=parts.scheme == "smtp+tls",
        tls=parts.scheme == "smtps",
    )
