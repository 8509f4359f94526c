"""Everything that must hold before a change lands, in order of cost; stops at the first that does not."""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CHROMIUM = Path("/usr/bin/chromium")
# The form of production, for the checks that read settings; nothing listens there.
PRODUCTION = {
    "DEBUG": "0",
    "SECRET_KEY": "a-key-for-checks-only-" + "0123456789abcdefghijklmnopqrstuvwxyz" * 2,
    "AVAL_HOSTS": "aval.example",
    "DATABASE_URL": "postgresql://aval@127.0.0.1:1/aval",
}
OF_OTHER_INSTALLATIONS = (
    "DATABASE_DIRECT_URL",
    "REDIS_URL",
    "EMAIL_URL",
    "OPENAI_BASE_URL",
    "OPENAI_API_KEY",
    "OPENAI_MODEL",
)


@dataclass(frozen=True)
class Step:
    name: str
    command: list[str]
    settings: dict[str, str] = field(default_factory=dict)


def python(*arguments: str) -> list[str]:
    return [sys.executable, *arguments]


def program(name: str, *arguments: str) -> list[str]:
    return [str(Path(sys.executable).parent / name), *arguments]


STEPS = [
    Step("format", program("ruff", "format", "--check")),
    Step("lint", program("ruff", "check")),
    Step("files of others", python("bin/vendor")),
    Step("translations", python("-m", "bin.workshop.messages", "check")),
    Step("compile translations", python("-m", "bin.workshop.messages", "compile")),
    Step("import contracts", program("lint-imports", "--no-cache")),
    Step("types", program("mypy"), {"DEBUG": "1"}),
    Step("static files", python("manage.py", "collectstatic", "--no-input", "--verbosity=0"), PRODUCTION),
    Step("deployment checks", python("manage.py", "check", "--deploy", "--fail-level=WARNING"), PRODUCTION),
    # No database is there to compare with, which Django warns of: the question is about models and files only.
    Step("migrations", python("-W", "ignore", "manage.py", "makemigrations", "--check", "--dry-run"), {"DEBUG": "1"}),
    Step("tests", python("-m", "bin.workshop.test", "-ra")),
]


def install_chromium() -> None:
    """Debian's Chromium, where the machine has none."""
    if CHROMIUM.exists():
        return
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    sudo = [] if os.geteuid() == 0 else ["sudo", "--non-interactive"]
    for command in (["apt-get", "update"], ["apt-get", "install", "--yes", "--no-install-recommends", "chromium"]):
        try:
            subprocess.run([*sudo, *command], env=environment, check=True, stdin=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit(f"CI stopped at: install Chromium ({error}). The browser tests need /usr/bin/chromium.")


def run(step: Step, environment: dict[str, str]) -> float:
    """Seconds that the step took; exits with its name if it fails."""
    print(f"\n— {step.name}", flush=True)
    started = time.monotonic()
    status = subprocess.run(step.command, cwd=ROOT, env=environment | step.settings, check=False).returncode
    took = time.monotonic() - started
    if status:
        print(f"\nCI stopped at: {step.name} (exit status {status}, after {took:.0f} s)", flush=True)
        sys.exit(status if 0 < status < 256 else 1)
    return took


def main() -> int:
    install_chromium()
    with tempfile.TemporaryDirectory(prefix="aval-ci-") as data_dir:
        environment = {name: value for name, value in os.environ.items() if name not in OF_OTHER_INSTALLATIONS}
        environment["AVAL_DATA_DIR"] = data_dir
        times = [(step.name, run(step, environment)) for step in STEPS]
    print("\nAll of it holds:")
    for name, seconds in times:
        print(f"  {name:<22}{seconds:7.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
