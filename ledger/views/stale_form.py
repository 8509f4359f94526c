"""What is read where a form carries an old or no CSRF token: signed in again elsewhere, or cookies are off."""

from typing import Any

from django.contrib import messages as flash
from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import translation
from django.utils.translation import gettext as _


def refused(request: Any, reason: str = "") -> HttpResponse:
    """The CSRF_FAILURE_VIEW. A page with scripts is loaded anew and says so; a draft is kept in its tab."""
    language = request.user.language if request.user.is_authenticated else translation.get_language()
    with translation.override(language):
        sentence = _("This page was open for too long, so nothing was done. It is fresh now: please do it again.")
        if request.headers.get("HX-Request") == "true":
            flash.warning(request, sentence)
            return HttpResponse(status=403, headers={"HX-Refresh": "true"})
        if request.get_preferred_type(["text/html", "application/json"]) == "application/json":
            return JsonResponse({"detail": _("The CSRF token is missing or too old.")}, status=403)
        return render(request, "stale_form.html", status=403)
