"""HTTP as little as a measurement needs: what the measuring side costs is not the product's."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from urllib.parse import urlencode, urlsplit


class Refused(RuntimeError):
    """An answer other than 200."""


class Browser:
    """Cookies and headers of one person, and one connection for each request."""

    def __init__(self, cookies: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None) -> None:
        self._headers = dict(headers or {})
        if cookies:
            self._headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())

    @contextlib.asynccontextmanager
    async def opened(
        self, address: str, body: bytes | None = None, **headers: str
    ) -> AsyncIterator[asyncio.StreamReader]:
        """The answer, read up to its body. GET, or POST with a body."""
        parts = urlsplit(address)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        try:
            path = f"{parts.path}?{parts.query}" if parts.query else parts.path
            lines = [f"{'GET' if body is None else 'POST'} {path} HTTP/1.1", f"Host: {parts.netloc}"]
            lines += [f"{name}: {value}" for name, value in (self._headers | headers).items()]
            if body is not None:
                lines.append(f"Content-Length: {len(body)}")
            writer.write("\r\n".join([*lines, "", ""]).encode() + (body or b""))
            status = (await reader.readline()).split()[1]
            while await reader.readline() not in (b"\r\n", b""):
                pass
            if status != b"200":
                raise Refused(f"{address}: {status.decode()} {(await reader.read(300)).decode(errors='replace')}")
            yield reader
        finally:
            writer.close()

    async def post(self, address: str, form: Mapping[str, str], **headers: str) -> None:
        """Post a form, and wait for the answer's head."""
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        async with self.opened(address, urlencode(form).encode(), **headers):
            pass


async def lines(reader: asyncio.StreamReader) -> AsyncIterator[str]:
    """The lines of an answer as they come; the sizes of its chunks are among them."""
    while line := await reader.readline():
        yield line.decode()
