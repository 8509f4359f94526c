"""A PostgreSQL of a test's own, where it may be the superuser."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from ledger import embedded
from ledger.embedded_access import Access
from ledger.embedded_account import choose_account


@contextlib.contextmanager
def own_server(folder: Path) -> Iterator[Access]:
    root = embedded.folder(folder / "var")
    try:
        with embedded.Server(root, fast=True).owned() as access:
            yield access
    finally:
        choose_account(root).remove()


def address(access: Access, role: str, password: str, database: str = "aval") -> str:
    netloc = f"{role}:{password}@127.0.0.1:{access.port}"
    return urlsplit(access.url)._replace(netloc=netloc, path=f"/{database}").geturl()
