"""A browser's cookies for a member, without the sign-in page."""

import secrets
import time

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore

from ledger.middleware import SESSION_COMPANY
from ledger.models import Membership


def signed_in(member: Membership) -> tuple[dict[str, str], dict[str, str]]:
    """Cookies and headers of a fresh sign-in of this member in their company, with a CSRF token."""
    session = SessionStore()
    session[SESSION_KEY] = str(member.user_id)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = member.user.get_session_auth_hash()
    session[SESSION_COMPANY] = str(member.tenant_id)
    session["signed_in_at"] = time.time()
    session.create()
    token = secrets.token_hex(16)
    cookies = {settings.SESSION_COOKIE_NAME: session.session_key or "", settings.CSRF_COOKIE_NAME: token}
    return cookies, {"X-CSRFToken": token}
