"""CI runs every check, stops at the first that fails and says which."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bin.workshop import ci, test
from tests.server import ROOT


def step(name: str, code: str) -> ci.Step:
    return ci.Step(name, [sys.executable, "-c", code])


def test_every_promised_check_is_a_step() -> None:
    assert [part.name for part in ci.STEPS] == [
        "format",
        "lint",
        "files of others",
        "translations",
        "compile translations",
        "import contracts",
        "types",
        "static files",
        "deployment checks",
        "migrations",
        "tests",
    ]


def test_the_first_failure_ends_it_with_its_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    after = tmp_path / "after"
    steps = [step("good", "pass"), step("bad", "raise SystemExit(7)"), step("late", f"open({str(after)!r}, 'w')")]
    monkeypatch.setattr(ci, "STEPS", steps)
    monkeypatch.setattr(ci, "install_chromium", lambda: None)
    with pytest.raises(SystemExit) as ended:
        ci.main()
    assert ended.value.code == 7
    assert "CI stopped at: bad (exit status 7" in capsys.readouterr().out
    assert not after.exists()


def test_a_step_that_was_killed_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        ci.run(step("killed", "import os; os.kill(os.getpid(), 9)"), {})
    assert ended.value.code == 1
    assert "CI stopped at: killed (exit status -9" in capsys.readouterr().out


def test_a_good_run_ends_with_a_summary(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(ci, "STEPS", [step("one", "pass"), step("two", "pass")])
    monkeypatch.setattr(ci, "install_chromium", lambda: None)
    assert ci.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[-2:]] == ["one", "two"]


def test_another_installations_settings_do_not_reach_the_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, str]] = []
    monkeypatch.setattr(ci, "STEPS", [step("one", "pass")])
    monkeypatch.setattr(ci, "install_chromium", lambda: None)
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    monkeypatch.setattr(ci, "run", lambda _step, environment: seen.append(environment) or 0.0)
    ci.main()
    assert "OPENAI_API_KEY" not in seen[0]
    assert seen[0]["AVAL_DATA_DIR"].startswith("/")


def test_chromium_is_installed_by_debians_package_manager_where_it_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(subprocess, "run", lambda command, **_options: commands.append(command))
    ci.install_chromium()
    assert commands == []
    monkeypatch.setattr(ci, "CHROMIUM", tmp_path / "chromium")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    ci.install_chromium()
    assert commands == [
        ["apt-get", "update"],
        ["apt-get", "install", "--yes", "--no-install-recommends", "chromium"],
    ]


@pytest.mark.parametrize(
    ("arguments", "spread"),
    [([], True), (["tests/ledger", "-k", "money"], True), (["-n0"], False), (["-n", "4"], False), (["--pdb"], False)],
)
def test_tests_run_on_three_processes_unless_told_otherwise(arguments: list[str], spread: bool) -> None:
    command = test.command(arguments)
    assert (command[3:5] == ["-n", "3"]) is spread
    assert command[-len(arguments) :] == arguments or not arguments


@pytest.mark.parametrize("script", ["bin/dev", "bin/test", "bin/ci", "bin/with-venv", ".ci/run"])
def test_scripts_can_be_run_and_are_plain_sh(script: str) -> None:
    path = ROOT / script
    assert path.stat().st_mode & 0o111 == 0o111
    assert subprocess.run(["sh", "-n", str(path)], check=False).returncode == 0


def test_an_old_python_is_refused_in_one_line(tmp_path: Path) -> None:
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    environment: dict[str, Any] = {"PATH": f"{tmp_path}:{tmp_path}/none"}
    for tool in ("sh", "dirname"):
        (tmp_path / tool).symlink_to(f"/bin/{tool}" if Path(f"/bin/{tool}").exists() else f"/usr/bin/{tool}")
    result = subprocess.run([str(ROOT / "bin" / "dev")], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr.strip() == (
        "Aval needs Python 3.11 or newer; none was found on the PATH. Name one with PYTHON=/path/to/python3."
    )
