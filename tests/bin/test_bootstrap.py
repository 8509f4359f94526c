"""Setting up installs what is pinned, once for each change of it."""

import re
import sys
from pathlib import Path

import pytest

from bin.workshop import bootstrap
from tests.server import ROOT


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A project's folder with an environment that was installed from its requirements."""
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setattr(bootstrap, "VENV", tmp_path / ".venv")
    (tmp_path / ".venv").mkdir()
    for name in ("requirements.txt", "requirements-dev.txt"):
        (tmp_path / name).write_text(f"# {name}\n")
        bootstrap.installed(name).write_text(bootstrap.fingerprint(name))
    return tmp_path


@pytest.fixture
def installs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    made: list[tuple[str, ...]] = []
    monkeypatch.setattr(bootstrap, "make_environment", lambda: None)
    monkeypatch.setattr(bootstrap, "install", made.append)
    return made


def test_an_installation_that_is_current_is_left_alone(project: Path, installs: list[tuple[str, ...]]) -> None:
    bootstrap.main("runtime")
    bootstrap.main("development")
    assert installs == []


def test_a_changed_requirement_is_installed(project: Path, installs: list[tuple[str, ...]]) -> None:
    (project / "requirements-dev.txt").write_text("pytest==1\n")
    bootstrap.main("runtime")
    assert installs == []
    bootstrap.main("development")
    assert installs == [("requirements.txt", "requirements-dev.txt")]


def test_another_python_needs_another_installation(
    project: Path, installs: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    bootstrap.main("runtime")
    assert installs == [("requirements.txt",)]


def test_a_failed_installation_is_tried_again(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "requirements.txt").write_text("--no-such-option\n")
    monkeypatch.setattr(bootstrap, "make_environment", lambda: None)
    (project / ".venv" / "bin").mkdir()
    (project / ".venv" / "bin" / "uv").write_text("#!/bin/sh\nexit 3\n")
    (project / ".venv" / "bin" / "uv").chmod(0o755)
    with pytest.raises(SystemExit, match=r"could not be installed \(exit status 3\)"):
        bootstrap.main("runtime")
    assert not bootstrap.is_current("requirements.txt")


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_everything_is_pinned_with_hashes_and_names_no_host(name: str) -> None:
    text = (ROOT / name).read_text()
    entries = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
    assert entries
    assert [
        entry.split("\n")[0] for entry in entries if not re.match(r"[\w.-]+==\S+.*\\\n\s+--hash=sha256:", entry)
    ] == []
    assert re.findall(r"https?://|file:|--index|--find-links|/opt/", text) == []


def test_the_customers_eight_packages_are_pinned() -> None:
    text = (ROOT / "requirements.txt").read_text()
    eight = "channels daphne django django-htmx django-q2 djangorestframework openai psycopg"
    assert [name for name in eight.split() if not re.search(rf"^{name}==", text, re.MULTILINE)] == []
