"""Make or mend .venv from the pinned requirements; needs nothing but Python's standard library.

Nothing is downloaded when the requirements that were installed last are still the ones asked for.
"""

import hashlib
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
VENV = ROOT / ".venv"
REQUIREMENTS = {
    "runtime": ("requirements.txt",),
    "development": ("requirements.txt", "requirements-dev.txt"),
}


def fingerprint(name: str) -> str:
    """What must be the same for an installation to be up to date: the interpreter's version and the pinned file."""
    content = (ROOT / name).read_bytes() + str(sys.version_info[:2]).encode()
    return hashlib.sha256(content).hexdigest()


def installed(name: str) -> Path:
    """The mark of the last installation of a requirements file."""
    return VENV / f".installed-{name}"


def is_current(name: str) -> bool:
    mark = installed(name)
    return mark.exists() and mark.read_text() == fingerprint(name)


def make_environment() -> None:
    """A fresh environment where there is none that works with this version of Python."""
    python = VENV / "bin" / "python"
    question = "import sys; print(sys.version_info[:2])"
    if python.exists():
        answer = subprocess.run([python, "-c", question], capture_output=True, text=True, check=False)
        if answer.stdout.strip() == str(sys.version_info[:2]):
            return
    print(f"Making {VENV.name} with Python {sys.version_info.major}.{sys.version_info.minor} …", flush=True)
    venv.create(VENV, clear=True, with_pip=True)


def install(names: tuple[str, ...]) -> None:
    files = [part for name in names for part in ("-r", str(ROOT / name))]
    python = str(VENV / "bin" / "python")
    beside = VENV / "bin" / "uv"
    uv = str(beside) if beside.exists() else shutil.which("uv")
    print(f"Installing {' and '.join(names)} with {'uv' if uv else 'pip'} …", flush=True)
    if uv:
        command = [uv, "pip", "install", "--quiet", "--python", python, "--require-hashes", *files]
    else:
        # What is never imported need not be compiled; what is, compiles itself on first use.
        quiet = ["--quiet", "--quiet", "--disable-pip-version-check", "--no-compile"]
        command = [python, "-m", "pip", "install", *quiet, "--require-hashes", *files]
    status = subprocess.run(command, cwd=ROOT, check=False).returncode
    if status:
        sys.exit(f"The packages could not be installed (exit status {status}); the lines above say why.")
    for name in names:
        installed(name).write_text(fingerprint(name))


def main(kind: str) -> None:
    names = REQUIREMENTS[kind]
    try:
        make_environment()
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"{VENV} cannot be made: {error}. (On Debian the package python3-venv may be missing.)")
    if not all(is_current(name) for name in names):
        install(names)


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except KeyboardInterrupt:
        sys.exit("Stopped before everything was installed; the next start goes on.")
