"""What an installation's environment makes of the settings, and when it doesn't start."""

import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from tests.server import ROOT

Load = Callable[..., dict[str, Any]]
PRODUCTION = {
    "DEBUG": "0",
    "SECRET_KEY": "k" * 60,
    "AVAL_HOSTS": "aval.example,.other.example",
    "DATABASE_URL": "postgresql://aval:password@db.example/aval",
}


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Load:
    """Runs settings.py with these variables and none else."""

    def with_variables(**variables: str) -> dict[str, Any]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        monkeypatch.setattr(os, "environ", kept | {"AVAL_DATA_DIR": str(tmp_path)} | variables)
        return runpy.run_path(str(ROOT / "ledger" / "settings.py"))

    return with_variables


def test_an_empty_environment_is_a_development_machine_that_only_itself_can_reach(load: Load, tmp_path: Path) -> None:
    settings = load()
    assert settings["DEBUG"] is True
    assert settings["ALLOWED_HOSTS"] == ["localhost", "127.0.0.1", "[::1]"]
    assert settings["SECRET_KEY"] == (tmp_path / "secret_key").read_text()
    assert settings["DATABASES"]["default"]["OPTIONS"]["host"] == str(tmp_path / "postgres")


@pytest.mark.parametrize("sign", ["SECRET_KEY", "DATABASE_URL", "AVAL_HOSTS", "ALLOWED_HOSTS"])
def test_any_sign_of_production_turns_the_development_form_off(load: Load, sign: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"^(SECRET_KEY|AVAL_HOSTS) is not set"):
        load(**{sign: "postgresql://host.example/" + "x" * 50})


@pytest.mark.parametrize("missing", ["SECRET_KEY", "AVAL_HOSTS", "DATABASE_URL"])
def test_production_names_what_is_missing(load: Load, missing: str) -> None:
    variables = {name: value for name, value in PRODUCTION.items() if name != missing}
    with pytest.raises(ImproperlyConfigured, match=f"^{missing} is not set: production needs"):
        load(**variables)


def test_production_is_encrypted_from_end_to_end(load: Load) -> None:
    settings = load(**PRODUCTION)
    assert settings["AVAL_URL"] == "https://aval.example"
    assert settings["CSRF_TRUSTED_ORIGINS"] == ["https://aval.example"]
    assert (settings["SESSION_COOKIE_SECURE"], settings["CSRF_COOKIE_SECURE"]) == (True, True)
    assert (settings["SECURE_SSL_REDIRECT"], settings["SECURE_HSTS_SECONDS"] > 0) == (True, True)
    assert settings["SECURE_PROXY_SSL_HEADER"] is None


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"OPENAI_API_KEY": "key"}, "OPENAI_MODEL"),
        ({"OPENAI_BASE_URL": "http://localhost:1/v1"}, "OPENAI_MODEL"),
        ({"OPENAI_MODEL": "model"}, "OPENAI_API_KEY"),
        ({"OPENAI_MODEL": "model", "OPENAI_BASE_URL": "localhost:1"}, "OPENAI_BASE_URL"),
        ({"AVAL_URL": "aval.example"}, "AVAL_URL"),
        ({"AVAL_PROCESS": "wroker"}, "AVAL_PROCESS"),
        ({"EMAIL_URL": "relay"}, "EMAIL_URL"),
        ({"REDIS_URL": "cache:6379"}, "REDIS_URL"),
        ({"SECRET_KEY": "short"}, "SECRET_KEY"),
        ({"DATABASE_OWNER_URL": PRODUCTION["DATABASE_URL"]}, "DATABASE_OWNER_URL"),
    ],
)
def test_half_a_setting_is_refused_by_name(load: Load, variables: dict[str, str], named: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=rf"^{named} "):
        load(**(PRODUCTION | variables))


@pytest.mark.parametrize(("process", "pooled"), [("web", True), ("agent", True), ("worker", False), ("command", False)])
def test_only_web_and_agent_keep_a_pool_of_connections(load: Load, process: str, pooled: bool) -> None:
    settings = load(**PRODUCTION, AVAL_PROCESS=process)
    assert ("pool" in settings["DATABASES"]["default"]["OPTIONS"]) is pooled


def test_listeners_go_past_the_bouncer_and_the_rest_prepares_nothing(load: Load) -> None:
    settings = load(**PRODUCTION, DATABASE_DIRECT_URL="postgresql://aval:password@direct.example/aval")
    assert settings["DATABASES"]["default"]["HOST"] == "db.example"
    options = settings["DATABASES"]["default"]["OPTIONS"]
    assert (options.get("prepare_threshold"), "server_side_binding" in options) == (None, False)
    assert settings["CHANNEL_LAYERS"]["default"]["CONFIG"]["HOST"] == "direct.example"


@pytest.mark.parametrize("process", ["web", "agent", "worker", "migrate", "command"])
def test_only_migrate_runs_as_the_owner(load: Load, process: str) -> None:
    settings = load(**PRODUCTION, AVAL_PROCESS=process, DATABASE_OWNER_URL="postgresql://owner:secret@db.example/aval")
    found = settings["DATABASES"]["default"]["USER"], settings["DATABASE_RUNTIME_ROLE"]
    assert found == (("owner", "aval") if process == "migrate" else ("aval", ""))
    assert "secret" in settings["LOGGING"]["filters"]["redact"]["secrets"]


def test_redis_takes_the_channel_layer_when_it_is_named(load: Load) -> None:
    settings = load(**PRODUCTION, REDIS_URL="redis://cache.example/0")
    layer = settings["CHANNEL_LAYERS"]["default"]
    assert layer["BACKEND"] == "channels_redis.pubsub.RedisPubSubChannelLayer"
    assert layer["CONFIG"]["hosts"] == ["redis://cache.example/0"]


@pytest.mark.parametrize("entry", [["manage.py", "check"], ["-m", "daphne", "ledger.asgi:application"]])
def test_a_refusal_to_start_is_one_line_and_not_a_traceback(entry: list[str]) -> None:
    environment = {"PATH": os.environ["PATH"], "DEBUG": "0"}
    result = subprocess.run([sys.executable, *entry], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr.strip() == (
        "Aval does not start: SECRET_KEY is not set: production needs a key of its own (50 random characters)."
    )


def test_the_worker_process_is_known_by_its_command() -> None:
    code = (
        "import manage, os, sys; sys.argv = ['manage.py', 'qcluster', '--help']\n"
        "try: manage.main()\n"
        "except SystemExit: print(os.environ['AVAL_PROCESS'])"
    )
    environment = {"PATH": os.environ["PATH"], **PRODUCTION}
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert result.stdout.splitlines()[-1] == "worker"


def test_every_variable_that_is_read_is_in_the_table() -> None:
    source = (ROOT / "ledger" / "settings.py").read_text()
    table, code = source.split('"""', 2)[1:]
    read = set(re.findall(r"env\.(?:text|flag|number|seconds|words|choice|required)\(\s*\"(\w+)\"", code))
    assert len(read) > 20
    assert sorted(read - set(re.findall(r"\b[A-Z_]{4,}\b", table))) == []


def test_the_page_of_interfaces_shows_the_same_table() -> None:
    table = (ROOT / "ledger" / "settings.py").read_text().split('"""', 2)[1].split("\n\n")[1]
    assert table.startswith("| variable |")
    assert table in (ROOT / "docs" / "interfaces.md").read_text()


@pytest.mark.parametrize("page", ["README.md", "docs/operating.md", "docs/security.md", "docs/interfaces.md"])
def test_every_variable_that_a_page_names_exists(page: str) -> None:
    table = (ROOT / "ledger" / "settings.py").read_text().split('"""', 2)[1]
    ours = re.compile(r"\b(?:AVAL|DATABASE|EMAIL|OPENAI|REDIS|SECRET)_[A-Z_]+\b")
    assert set(ours.findall((ROOT / page).read_text())) <= set(ours.findall(table))
