"""How many wrong passwords are taken: for one account, and from one network address, by all web processes together.

A stranger who tries an account's passwords keeps out only strangers: whoever has signed in to it from a device before
has a signed cookie, and the tries of that device are counted by themselves (OWASP, "Device cookies"). Everybody else
waits some minutes at most, and no try during the wait makes it longer.
"""

import hashlib
import unicodedata
import uuid

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from ledger.models import User
from ledger.views.waits import Door, take_back, wait_at

WRONG_FOR_AN_ACCOUNT = 10
WRONG_FROM_AN_ADDRESS = 30
"""An office's people share one."""
WAIT_SECONDS = 300
DEVICE = "device"
DEVICE_SALT = "ledger.sign_in.device"
DEVICE_SECONDS = 365 * 24 * 3600


def wait_before(request: HttpRequest, typed: str) -> int:
    """Count this try, before its password is looked at: the seconds to wait where there were too many, else 0."""
    return max(wait_at(door) for door in _doors(request, typed))


def was_right(request: HttpRequest, typed: str) -> None:
    """The password was right: this try does not count."""
    for door in _doors(request, typed):
        take_back(door)


def remember(response: HttpResponse, request: HttpRequest, user: User) -> None:
    """Let the browser tell by itself, next time, that this person has signed in from it before."""
    device = _device(request, user.email) or f"{uuid.uuid4()}:{_account(user.email)}"
    response.set_signed_cookie(
        DEVICE,
        device,
        salt=DEVICE_SALT,
        max_age=DEVICE_SECONDS,
        path=settings.LOGIN_URL,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _doors(request: HttpRequest, typed: str) -> tuple[Door, ...]:
    if device := _device(request, typed):
        return (Door(f"sign-in:device:{device}", WRONG_FOR_AN_ACCOUNT, WAIT_SECONDS),)
    return (
        Door(f"sign-in:account:{_account(typed)}", WRONG_FOR_AN_ACCOUNT, WAIT_SECONDS),
        Door(f"sign-in:address:{request.META.get('REMOTE_ADDR', '')}", WRONG_FROM_AN_ADDRESS, WAIT_SECONDS),
    )


def _device(request: HttpRequest, typed: str) -> str:
    """The device's name, if somebody has signed in to this account from it before."""
    value = request.get_signed_cookie(DEVICE, "", salt=DEVICE_SALT, max_age=DEVICE_SECONDS) or ""
    return value if value.partition(":")[2] == _account(typed) else ""


def _account(typed: str) -> str:
    """The same for all spellings that the database takes for one address (it compares in capitals); no one's name."""
    plain = unicodedata.normalize("NFKC", typed).strip().upper().casefold()
    return hashlib.sha256(plain.encode()).hexdigest()
