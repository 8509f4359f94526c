"""How pages answer: a record or 404, a refusal said where it belongs."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

from django import forms
from django.contrib import messages as flash
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpResponse

from ledger import permissions
from ledger.actions.records import by_ref
from ledger.errors import DomainError, NotAllowed, NotFound
from ledger.models import BusinessModel
from ledger.once import see_other

Row = TypeVar("Row", bound=BusinessModel)
Params = ParamSpec("Params")
View = Callable[Concatenate[Any, Params], HttpResponse]

STATUS = {"STALE_VERSION": 409, "FORM_INCOMPLETE": 400}


def record_or_404(rows: "type[Row] | QuerySet[Row]", ref: str) -> Row:
    """The record of that ref; a stranger's and the trash's are not there."""
    try:
        return by_ref(rows, ref)
    except NotFound:
        raise Http404 from None


def require(request: Any, deed: str) -> None:
    """403 for a member who may not; the action asks again."""
    if not permissions.allowed(request.member, deed):
        raise PermissionDenied


def status_of(error: DomainError) -> int:
    """The HTTP status of a refusal: 422 where what was typed may be mended."""
    return STATUS.get(error.code, 422)


def version_of(request: Any, row: BusinessModel) -> int:
    """The version that a form was made from: what was posted with it, or what stands now."""
    posted = request.POST.get("version", "")
    return int(posted) if posted.isdecimal() and len(posted) < 10 else row.version


def sure_of(request: Any) -> Literal["ask", "create"]:
    """Whether the person has seen the probable duplicates and adds the record all the same."""
    return "create" if request.POST.get("on_duplicate") == "create" else "ask"


def tell(form: forms.Form, error: DomainError) -> None:
    """Say a refusal beside its field, or above the form where it names none that the form has."""
    named = error.data.get("field")
    field = str(named) if named in form.fields else None
    form.add_error(field, error.sentence)


def flashing(back: Callable[..., str]) -> Callable[[View[Params]], View[Params]]:
    """For views of one button: a refusal is said on the page that `back` names. 404 and 403 stay what they are."""

    def around(view: View[Params]) -> View[Params]:
        @wraps(view)
        def answered(request: Any, *args: Params.args, **kwargs: Params.kwargs) -> HttpResponse:
            try:
                return view(request, *args, **kwargs)
            except NotFound:
                raise Http404 from None
            except NotAllowed:
                raise PermissionDenied from None
            except DomainError as error:
                flash.error(request, error.sentence)
                return see_other(back(*args, **kwargs))

        return answered

    return around
