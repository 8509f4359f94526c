"""Who signs in, and what each is in a company."""

from typing import ClassVar

import pgtrigger
from django.contrib.auth.models import AbstractUser
from django.contrib.auth.models import UserManager as DjangoUserManager
from django.db import models
from django.db.models.functions import Lower
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from ledger.tenancy import TenantForeignKey, TenantModel, new_id


class UserManager(DjangoUserManager["User"]):
    """Users are made and found by e-mail."""

    def create_user(self, email: str, password: str | None = None, **fields: object) -> "User":  # type: ignore[override]
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: object) -> "User":  # type: ignore[override]
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email__iexact=username)


class Language(models.TextChoices):
    ENGLISH = "en", _("English")
    PORTUGUESE = "pt-br", _("Portuguese (Brazil)")


class User(AbstractUser):
    """A person's sign-in; what they may do is on their memberships. On the closed list of tables without a policy."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    username = None  # type: ignore[assignment]
    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]
    email = models.EmailField(_("e-mail"), unique=True)
    language = models.CharField(_("language"), max_length=8, choices=Language, default=Language.ENGLISH)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects: ClassVar[UserManager] = UserManager()

    class Meta:
        verbose_name, verbose_name_plural = _("user"), _("users")
        constraints = (models.UniqueConstraint(Lower("email"), name="user_email"),)

    def __str__(self) -> str:
        return self.email


class Access(models.Model):
    """Which companies a person may enter: ids only, read before any company is known."""

    user = models.ForeignKey(User, models.CASCADE, related_name="accesses")
    tenant = models.ForeignKey("ledger.Company", models.CASCADE, related_name="+")

    class Meta:
        constraints = (models.UniqueConstraint(fields=["user", "tenant"], name="access_once"),)

    def __str__(self) -> str:
        return f"{self.user_id} {self.tenant_id}"


class Role(models.TextChoices):
    OWNER = "owner", pgettext_lazy("role", "Owner")
    ADMIN = "admin", _("Admin")
    OFFICE = "office", _("Office")
    SALES = "sales", _("Sales")
    CREW = "crew", _("Crew")
    ACCOUNTANT = "accountant", _("Accountant")
    VIEWER = "viewer", _("Viewer")


ONE_OWNER = """
    PERFORM set_config('app.tenant', OLD.tenant_id::text, true);
    IF NOT EXISTS (SELECT FROM ledger_membership
                    WHERE tenant_id = OLD.tenant_id AND role = 'owner' AND active)
    THEN RAISE EXCEPTION 'company % would be left without an owner', OLD.tenant_id; END IF;
    RETURN NULL;
"""


class Membership(TenantModel):
    """A person in one company: role, limits and the counter that makes old permissions stale.

    `epoch` is raised by each change of role, limits or state; an action keeps the epoch of its requester and the gate
    reads the permission anew when it executes.
    """

    ref = models.CharField(max_length=24, editable=False)
    user = models.ForeignKey(User, models.PROTECT, related_name="memberships")
    name = models.CharField(max_length=160)
    phone = models.CharField(max_length=20, blank=True, default="")
    role = models.CharField(max_length=12, choices=Role, default=Role.VIEWER)
    approve_l3 = models.BooleanField(default=False)
    discount_limit = models.DecimalField(max_digits=6, decimal_places=3, default=0)
    timezone = models.CharField(max_length=64, blank=True, default="")
    active = models.BooleanField(default=True)
    epoch = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(default=now, editable=False)

    class Meta:
        verbose_name, verbose_name_plural = _("membership"), _("memberships")
        constraints = (
            models.UniqueConstraint(fields=["tenant", "user"], name="membership_once"),
            models.CheckConstraint(condition=models.Q(role__in=[r.value for r in Role]), name="membership_role"),
        )
        triggers = (
            pgtrigger.Trigger(
                name="one_owner_stays",
                operation=pgtrigger.Update | pgtrigger.Delete,
                when=pgtrigger.After,
                timing=pgtrigger.Deferred,
                condition=pgtrigger.Condition("OLD.role = 'owner' AND OLD.active"),
                func=ONE_OWNER,
            ),
        )

    def __str__(self) -> str:
        return self.name


class Suspension(TenantModel):
    """A pause of the agent in this company (the kill switch): open while `ended_at` is empty."""

    reason = models.CharField(max_length=300, blank=True, default="")
    started_by = TenantForeignKey(Membership, related_name="+")
    started_at = models.DateTimeField(default=now)
    ended_by = TenantForeignKey(Membership, null=True, related_name="+")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["tenant"], condition=models.Q(ended_at=None), name="suspension_one_open"),
        )
