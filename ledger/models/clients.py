"""Clients, the people who speak for them, and the properties that are worked on."""

from datetime import timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from ledger import sealed
from ledger.models.address import Address
from ledger.models.base import BusinessModel
from ledger.tax_ids import TaxIdKind, mask_tax_id
from ledger.tenancy import TenantForeignKey, TenantModel

FRESH_CHANGE = timedelta(hours=72)
"""How long a changed e-mail or phone stands on the cards that use it (domain: `update_client`)."""


class Client(Address, BusinessModel):
    """Somebody who buys: a person or a company. The address is where bills go.

    The tax id is stored sealed; `tax_id_hash` finds it and keeps it unique without opening it. `name_key` is
    the name as it is compared (H29). An archived client is hidden from lists, a deleted one is in the trash.
    """

    class Kind(models.TextChoices):
        PERSON = "person", _("Person")
        COMPANY = "company", _("Company")

    class Language(models.TextChoices):
        ENGLISH = "en-US", _("English")
        PORTUGUESE = "pt-BR", _("Portuguese (Brazil)")

    kind = models.CharField(_("kind"), max_length=8, choices=Kind)
    name = models.CharField(_("name"), max_length=200)
    name_key = models.CharField(max_length=200, editable=False)
    tax_id_kind = models.CharField(
        max_length=4, choices=[(kind.value, kind.value) for kind in TaxIdKind], blank=True, default="", editable=False
    )
    tax_id_sealed = models.TextField(blank=True, default="", editable=False)
    tax_id_hash = models.CharField(max_length=64, blank=True, default="", editable=False)
    language = models.CharField(_("language"), max_length=8, choices=Language)
    terms_days = models.PositiveSmallIntegerField(_("days to pay"), null=True, blank=True)
    tags = ArrayField(models.CharField(max_length=40), verbose_name=_("tags"), default=list, blank=True)
    credit_cents = models.BigIntegerField(default=0, editable=False)
    blocked = models.BooleanField(_("blocked"), default=False)
    archived_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        verbose_name, verbose_name_plural = _("client"), _("clients")
        indexes = (
            models.Index(fields=["tenant", "-created_at", "-id"], name="client_newest"),
            models.Index(fields=["tenant", "name_key"], name="client_name"),
        )
        constraints = (
            models.CheckConstraint(condition=Q(kind__in=["person", "company"]), name="client_kind"),
            models.CheckConstraint(condition=~Q(name=""), name="client_named"),
            models.CheckConstraint(condition=Q(credit_cents__gte=0), name="client_credit"),
            models.CheckConstraint(condition=Q(terms_days=None) | Q(terms_days__lte=365), name="client_terms"),
            models.CheckConstraint(
                condition=Q(tax_id_kind="", tax_id_sealed="", tax_id_hash="")
                | (~Q(tax_id_kind="") & ~Q(tax_id_sealed="") & ~Q(tax_id_hash="")),
                name="client_tax_id_whole",
            ),
            models.UniqueConstraint(
                fields=["tenant", "tax_id_hash"],
                condition=Q(deleted_at=None) & ~Q(tax_id_hash=""),
                name="client_tax_id_once",
            ),
        )

    @property
    def is_gone(self) -> bool:
        return self.deleted_at is not None

    @property
    def tax_id(self) -> str:
        """The tax id in the clear: only where a person asked for it. Lists and tools take `tax_id_masked`."""
        return sealed.unseal(self.tax_id_sealed) if self.tax_id_sealed else ""

    @property
    def tax_id_masked(self) -> str:
        """The tax id with only its end to be seen: `••.•••.•••/••••-98`."""
        return mask_tax_id(self.tax_id, TaxIdKind(self.tax_id_kind)) if self.tax_id_sealed else ""

    @property
    def main_contact(self) -> "Contact | None":
        """The contact marked as the main one, else the oldest. Reads prefetched contacts where they are."""
        contacts = sorted(self.contacts.all(), key=lambda contact: (not contact.main, contact.created_at, contact.pk))
        return contacts[0] if contacts else None


class Contact(TenantModel):
    """A way to reach a client: who, under which address, and whether mail goes to them or only copies.

    `email_changed_at` and `phone_changed_at` say when a known address was replaced; empty while the first one
    stands.
    """

    class Copies(models.TextChoices):
        TO = "to", _("Receives")
        CC = "cc", _("Gets a copy")
        NONE = "none", _("Gets no documents")

    client = TenantForeignKey(Client, related_name="contacts")
    name = models.CharField(_("name"), max_length=200, blank=True, default="")
    role = models.CharField(_("documents"), max_length=4, choices=Copies, default=Copies.TO)
    main = models.BooleanField(_("main contact"), default=False)
    email = models.EmailField(_("e-mail"), blank=True, default="")
    phone = models.CharField(_("phone"), max_length=20, blank=True, default="")
    email_changed_at = models.DateTimeField(null=True, editable=False)
    phone_changed_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name, verbose_name_plural = _("contact"), _("contacts")
        indexes = (
            models.Index(fields=["tenant", "phone"], condition=~Q(phone=""), name="contact_phone"),
            models.Index("tenant", Lower("email"), condition=~Q(email=""), name="contact_email"),
        )
        constraints = (
            models.CheckConstraint(condition=Q(role__in=["to", "cc", "none"]), name="contact_role"),
            models.CheckConstraint(condition=~Q(name="", email="", phone=""), name="contact_says_something"),
            models.UniqueConstraint(fields=["tenant", "client"], condition=Q(main=True), name="contact_one_main"),
            models.UniqueConstraint(
                F("tenant"), F("client"), Lower("email"), condition=~Q(email=""), name="contact_email_once"
            ),
        )

    def __str__(self) -> str:
        return self.name or self.email or self.phone

    @property
    def email_is_fresh(self) -> bool:
        """Whether the address was replaced in the last 72 hours: a card that uses it says so."""
        return self.email_changed_at is not None and timezone.now() - self.email_changed_at < FRESH_CHANGE

    @property
    def phone_is_fresh(self) -> bool:
        """Whether the number was replaced in the last 72 hours."""
        return self.phone_changed_at is not None and timezone.now() - self.phone_changed_at < FRESH_CHANGE


class Site(Address, BusinessModel):
    """A property that is worked on. It belongs to a lead until the lead becomes a client."""

    client = TenantForeignKey(Client, null=True, blank=True, related_name="sites")
    lead = TenantForeignKey("ledger.Lead", null=True, blank=True, related_name="sites")
    label = models.CharField(_("label"), max_length=80, blank=True, default="")
    access_notes = models.CharField(_("how to get in"), max_length=500, blank=True, default="")

    class Meta:
        verbose_name, verbose_name_plural = _("site"), _("sites")
        indexes = (models.Index(fields=["tenant", "address_key"], name="site_address"),)
        constraints = (
            models.CheckConstraint(
                condition=Q(client=None, lead__isnull=False) | Q(client__isnull=False, lead=None),
                name="site_one_party",
            ),
            models.CheckConstraint(condition=~Q(line1=""), name="site_has_address"),
        )
