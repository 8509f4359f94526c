"""What the admin classes share: reading only, columns with words of their own, lists of bounded cost.

Rules of the business live in the actions, so nothing of a company is changed from here (R7).
"""

import uuid
from collections.abc import Callable, Iterable
from functools import cached_property, partial
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import display_for_value
from django.core.exceptions import BadRequest
from django.core.paginator import Paginator
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from ledger import audit, operators, reader
from ledger.admin_site import site
from ledger.text import visible

register = partial(admin.register, site=site)
Column = Callable[[Any], Any]
Words = Any
"""A text in the reader's language, translated when it is shown."""


def column(name: str, label: Words, *, boolean: bool = False, order: str | None = None) -> Column:
    """A field of a row under a word of our own: the label of a choice, a link to the row it leads to, else the value.

    `name` may go through relations ("client__name"); `order` is what a click on the heading sorts by.
    """
    *way, last = name.split("__")

    @admin.display(description=label, ordering=order or name, boolean=boolean)
    def shown(row: Any) -> Any:
        for step in way:
            row = getattr(row, step)
            if row is None:
                return site.empty_value_display
        choice = getattr(row, f"get_{last}_display", None)
        value = choice() if choice else getattr(row, last)
        return value if boolean else link(value) if isinstance(value, Model) else _plain(value)

    shown.__name__ = name
    return shown


def link(row: Model) -> str | SafeString:
    """The row's name, leading to its page where it has one."""
    if not site.is_registered(type(row)):
        return str(row)
    url = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])
    return format_html('<a href="{}">{}</a>', url, str(row))


def _plain(value: Any) -> str:
    """The value as text, with what a reader would not see spelled out (T23)."""
    return visible(str(display_for_value(value, site.empty_value_display)), lines=True).text


def money(name: str, label: Words, currency: Callable[[Any], str] = lambda row: row.currency) -> Column:
    """Cents as an amount, in the row's own currency."""

    @admin.display(description=label, ordering=name)
    def shown(row: Any) -> str:
        return reader.amount(getattr(row, name), currency(row))

    shown.__name__ = name
    return shown


def told(label: Words, function: Column, name: str) -> Column:
    """What a function says of a row; `name` is its own, for the page's style sheet."""

    @admin.display(description=label)
    def shown(row: Any) -> Any:
        return function(row)

    shown.__name__ = name
    return shown


def titled(label: Words, kind: type[admin.FieldListFilter] = admin.ChoicesFieldListFilter) -> Any:
    """A filter under a word of our own."""

    class Titled(kind):  # type: ignore[valid-type,misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.title = label

    return Titled


class NewestPaginator(Paginator):
    """Counts no further than MOST rows: a list of millions opens as fast as one of fifty. Filters lead to the rest."""

    MOST = 10_000

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list[: self.MOST]
        return int(rows.count())


class StaffOnly:
    """Everyone on the operator's staff may look; what else is open, each class says for itself."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return site.has_permission(request)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return site.has_permission(request)


class ReadOnly(StaffOnly):
    """Nothing is added, changed or removed."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class OperatorAdmin(StaffOnly, admin.ModelAdmin):
    """An admin of the operator's site: its deeds stand in the company's audit chain, not in Django's log."""

    section = ""
    place = 0
    """The section of the index, and the place in it; of one place, in the order of their registration."""
    paginator = NewestPaginator
    list_per_page = 50
    list_max_show_all = 200
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    view_on_site = False

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """The row, or 404: another company's row, no row and no id are all the same."""
        found = super().get_object(request, object_id, from_field)
        if found is None:
            raise Http404
        return found

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """The list; a filter by what no column can hold ("year 99999") is a bad request."""
        try:
            return super().get_changelist_instance(request)
        except (ValueError, OverflowError) as error:
            raise BadRequest("a filter that no column can answer") from error

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        """A whole id finds its row; anything else is sought in `search_fields`."""
        try:
            wanted = uuid.UUID(search_term.strip())
        except ValueError:
            return super().get_search_results(request, queryset, search_term)
        return queryset.filter(pk=wanted), False

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """What the audit chain holds about the row."""
        found = self.get_object(request, object_id)
        return redirect(f"{reverse('admin:ledger_auditevent_changelist')}?subject_id={found.pk}")

    def log_addition(self, request: Any, obj: Any, message: Any) -> Any:
        self._record(request, obj, "added", message)

    def log_change(self, request: Any, obj: Any, message: Any) -> Any:
        self._record(request, obj, "changed", message)

    def log_deletions(self, request: Any, queryset: Iterable[Any]) -> Any:
        for obj in queryset:
            self._record(request, obj, "deleted", [])

    def _record(self, request: Any, obj: Any, deed: str, message: Any) -> None:
        """Names of fields only, never their values. Django's message is a list of {"changed": {"fields": [...]}}."""
        parts = [part for part in message if isinstance(part, dict)] if isinstance(message, list) else []
        fields = [field for part in parts for field in part.get("changed", {}).get("fields", [])]
        kind = f"{obj._meta.model_name}.{deed}"
        audit.record(kind, by=None, subject=obj, operator=operators.named(request.user), fields=fields)


class ReadingAdmin(ReadOnly, OperatorAdmin):
    """Rows to look at; `rows` are the lines of a row's page, in order."""

    rows: tuple[Any, ...] = ()

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.rows

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.rows


class ReadingInline(ReadOnly, admin.TabularInline):
    """Rows that belong to a row, to look at."""

    extra = 0
    max_num = 0
    can_delete = False
    rows: tuple[Any, ...] = ()

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.rows

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.rows
