"""A form posted to a running web process, as a signed-in member's browser would."""

import httpx2 as httpx

from ledger.models import Membership
from tests.support.signing_in import signed_in


def post(address: str, member: Membership, path: str, **fields: object) -> httpx.Response:
    """The answer itself; redirects are not followed."""
    cookies, headers = signed_in(member)
    with httpx.Client(cookies=cookies, headers=headers, timeout=30) as http:
        return http.post(address + path, data={name: str(value) for name, value in fields.items()})
