"""The operator's own accounts. Customers' accounts are not listed here: that would be a list across companies.

Staff see each other; a superuser makes accounts and changes them. Nobody changes their own rights, and nobody sets the
password of somebody who belongs to a company: that would be a way to decide in their name (R4).
"""

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from ledger.admin.reading import OperatorAdmin, column, register, titled
from ledger.models import Access, User

RIGHTS = ("is_active", "is_staff", "is_superuser")


class NewStaffForm(AdminUserCreationForm):
    """An account of the staff: who is made here may come in here."""

    class Meta:
        model = User
        fields = ("email", "language", "is_superuser")

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"]
        if User.objects.filter(email__iexact=email).exists():
            raise ValidationError(_("There is an account of that address already."))
        return email

    def save(self, commit: bool = True) -> Any:
        self.instance.is_staff = True
        return super().save(commit)


class StaffForm(UserChangeForm):
    """The rights of one account; one's own stay as they are, so that nobody locks the last door behind them."""

    own = False

    class Meta:
        model = User
        fields = "__all__"  # the fieldsets say which

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        changed = [name for name in RIGHTS if name in self.changed_data]
        if self.own and changed:
            raise ValidationError(_("Nobody changes their own rights here."))
        return cleaned


@register(User)
class StaffAdmin(OperatorAdmin, UserAdmin):
    section = "staff"
    form = StaffForm
    add_form = NewStaffForm
    list_display = (
        column("email", lazy("E-mail")),
        column("is_active", lazy("Active"), boolean=True),
        column("is_superuser", lazy("Manages staff"), boolean=True),
        column("last_login", lazy("Last signed in")),
    )
    list_filter = (("is_active", titled(lazy("Active"), admin.BooleanFieldListFilter)),)
    search_fields = ("email",)
    ordering = ("email",)
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("email", "password", "language")}),
        (lazy("Rights"), {"fields": RIGHTS}),
        (lazy("Dates"), {"fields": ("last_login", "date_joined")}),
    )
    readonly_fields = ("email", "last_login", "date_joined")
    add_fieldsets = (
        (
            None,
            {
                "classes": ("wide",),
                "fields": ("email", "language", "is_superuser", "usable_password", "password1", "password2"),
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).filter(is_staff=True)

    def get_form(self, request: HttpRequest, obj: User | None = None, change: bool = False, **kwargs: Any) -> Any:
        form: Any = super().get_form(request, obj, change=change, **kwargs)
        form.own = obj is not None and obj.pk == request.user.pk
        return form

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.readonly_fields if obj else ()

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:  # noqa: A002
        person = self.get_object(request, id)
        if person.pk != request.user.pk and Access.objects.filter(user=person).exists():
            sentence = _("%(email)s belongs to a company: only they set their password.") % {"email": person.email}
            self.message_user(request, sentence, messages.ERROR)
            return redirect("admin:ledger_user_change", person.pk)
        response: HttpResponse = super().user_change_password(request, id, form_url)
        return response

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._manages(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._manages(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """An account is closed, never removed: the record names it."""
        return False

    def _manages(self, request: Any) -> bool:
        return self.admin_site.has_permission(request) and bool(request.user.is_superuser)
