"""Each form is taken once: a double click, a reload, a second tab lead where the first one led (H22)."""

import uuid
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from ledger.errors import DomainError
from ledger.models import SubmittedForm


def once(request: Any, deed: Callable[[], str]) -> HttpResponse:
    """Do the deed of a posted form, which returns where to go, unless its `key` was taken before.

    The key is claimed first and in the deed's own transaction: whoever comes second waits for the first, and a deed
    that fails gives its key back. Raises FORM_INCOMPLETE without a key, and what the deed raises.
    """
    key = _key(request)
    with transaction.atomic():
        if _claim(key):
            location = deed()
            SubmittedForm.objects.filter(key=key).update(location=location)
        else:
            location = SubmittedForm.objects.get(key=key).location
    return see_other(location)


def taken(request: Any) -> str:
    """Where the form of this `key` led, if it was taken already: its fields may not fit what stands there now."""
    try:
        key = uuid.UUID(request.POST.get("key", ""))
    except ValueError:
        return ""
    return str(SubmittedForm.objects.filter(key=key).values_list("location", flat=True).first() or "")


def see_other(location: str) -> HttpResponse:
    """303: after a POST, look there."""
    response = redirect(location)
    response.status_code = 303
    return response


def _key(request: Any) -> uuid.UUID:
    try:
        return uuid.UUID(request.POST.get("key", ""))
    except ValueError:
        sentence = _("This form is incomplete. Reload the page and try again.")
        raise DomainError("FORM_INCOMPLETE", sentence) from None


def _claim(key: uuid.UUID) -> bool:
    made = SubmittedForm.objects.bulk_create([SubmittedForm(key=key)], ignore_conflicts=True)
    return SubmittedForm.objects.filter(pk=made[0].pk).exists()
