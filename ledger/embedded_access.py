"""How to reach the embedded PostgreSQL: kept beside its data, readable by the installation's owner only."""

import contextlib
import json
import socket
from dataclasses import asdict, dataclass
from pathlib import Path

HOST = "127.0.0.1"
ROLE = DATABASE = "aval"


class EmbeddedError(Exception):
    """The embedded server cannot be had; the message is one line for the person at the terminal."""


@dataclass(frozen=True)
class Access:
    """How to reach the server: its port and the passwords of the two roles."""

    port: int
    password: str
    admin_password: str

    @property
    def url(self) -> str:
        return f"postgresql://{ROLE}:{self.password}@{HOST}:{self.port}/{DATABASE}"

    @property
    def admin_url(self) -> str:
        return f"postgresql://postgres:{self.admin_password}@{HOST}:{self.port}/postgres"


def make_folder(root: Path) -> None:
    try:
        root.mkdir(parents=True, exist_ok=True)
        root.chmod(0o711)
        (root / "lock").touch()
    except OSError as error:
        raise EmbeddedError(
            f"The data folder {root.parent} cannot be used: {error.strerror}. Set AVAL_DATA_DIR."
        ) from None


def read_access(root: Path) -> Access | None:
    try:
        return Access(**json.loads((root / "access.json").read_text()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise EmbeddedError(f"{root / 'access.json'} cannot be read: {error}.") from None


def write_access(root: Path, access: Access) -> None:
    fresh = root / "access.json.new"
    fresh.unlink(missing_ok=True)
    fresh.touch(mode=0o600)
    fresh.write_text(json.dumps(asdict(access)))
    fresh.rename(root / "access.json")


def free_port(wanted: int = 0) -> int:
    """The wanted port if nobody has it, or any other."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                probe.bind((HOST, port))
                return int(probe.getsockname()[1])
    raise EmbeddedError("This machine has no free port left.")
