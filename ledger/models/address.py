"""A postal address in parts, as both countries write it."""

from django.db import models
from django.utils.translation import gettext_lazy as _

PARTS = ("line1", "line2", "city", "region", "postal_code", "country")


class Address(models.Model):
    """The columns of an address; `country` is an ISO 3166 code. `address_key` is street and city as compared."""

    line1 = models.CharField(_("street and number"), max_length=160, blank=True, default="")
    line2 = models.CharField(_("unit, floor or district"), max_length=120, blank=True, default="")
    city = models.CharField(_("city"), max_length=100, blank=True, default="")
    region = models.CharField(_("state"), max_length=60, blank=True, default="")
    postal_code = models.CharField(_("postal code"), max_length=16, blank=True, default="")
    country = models.CharField(_("country"), max_length=2, blank=True, default="")
    address_key = models.CharField(max_length=280, blank=True, default="", editable=False)

    class Meta:
        abstract = True

    @property
    def address(self) -> str:
        """One line, in the order of the country's post: `1418 Cedar Bend Dr, Austin, TX 78758`."""
        if self.country == "BR":
            town = " - ".join(part for part in (self.city, self.region) if part)
            return ", ".join(part for part in (self.line1, self.line2, town, self.postal_code) if part)
        state = " ".join(part for part in (self.region, self.postal_code) if part)
        return ", ".join(part for part in (self.line1, self.line2, self.city, state) if part)

    @property
    def address_parts(self) -> dict[str, str]:
        return {part: getattr(self, part) for part in PARTS}
