"""The forms of leads and clients: they shape what was typed; the rules are the actions'."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from ledger import reader
from ledger.amounts import Ambiguous, read_amount
from ledger.cents import MoneyError
from ledger.models import Client, Company, Contact, Lead, LostReason, Membership, Stage
from ledger.models.address import PARTS
from ledger.views.party_values import client_values, lead_values

SHORT = {"autocomplete": "off"}


class AmountField(forms.CharField):
    """Money as people write it, in the company's currency: cents, or a question where it can be read in two ways."""

    currency = "USD"

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text:
            return 0
        try:
            read = read_amount(text, reader.locale(), self.currency)
        except MoneyError as error:
            raise forms.ValidationError(error.sentence) from error
        if isinstance(read, Ambiguous):
            shown = _(" or ").join(reader.amount(cents, self.currency) for cents in read.candidates)
            raise forms.ValidationError(_("Do you mean %(shown)s?") % {"shown": shown})
        return read.cents


class AddressForm(forms.Form):
    """The parts of an address. Subclasses name it in `address()`."""

    line1 = forms.CharField(label=lazy("Street and number"), max_length=160, required=False)
    line2 = forms.CharField(label=lazy("Unit, floor or district"), max_length=120, required=False)
    city = forms.CharField(label=lazy("City"), max_length=100, required=False)
    region = forms.CharField(label=lazy("State"), max_length=60, required=False)
    postal_code = forms.CharField(label=lazy("Postal code"), max_length=16, required=False)

    def address(self) -> dict[str, str]:
        return {part: self.cleaned_data[part] for part in PARTS if part in self.cleaned_data}


class LeadForm(AddressForm):
    """A lead, new or changed."""

    name = forms.CharField(label=lazy("Name"), max_length=200)
    phone = forms.CharField(label=lazy("Phone"), max_length=40, required=False)
    email = forms.CharField(label=lazy("E-mail"), max_length=254, required=False, widget=forms.EmailInput)
    source = forms.CharField(label=lazy("Source"), max_length=60, required=False)
    service = forms.CharField(label=lazy("Service"), max_length=120, required=False)
    value = AmountField(label=lazy("Expected value"), max_length=40, required=False)
    owner = forms.ChoiceField(label=lazy("Owner"), required=False)
    notes = forms.CharField(label=lazy("Notes"), max_length=2000, required=False, widget=forms.Textarea)

    field_order = ("name", "phone", "email", "source", "service", "value", "owner", *PARTS, "notes")

    def __init__(self, data: Any = None, *, company: Company, lead: Lead | None = None) -> None:
        members = {str(member.pk): member for member in Membership.objects.filter(active=True).order_by("name")}
        super().__init__(data, initial=lead_values(lead, company) if lead else {})
        self.members: dict[str, Membership] = members
        field: Any = self.fields["owner"]
        field.choices = [("", "–"), *((key, member.name) for key, member in members.items())]
        amount: Any = self.fields["value"]
        amount.currency = company.currency
        if lead:
            del self.fields["notes"]

    def given(self) -> dict[str, Any]:
        """What was typed, as `create_lead` and `update_lead` take it."""
        data = self.cleaned_data
        given = {name: data[name] for name in ("name", "phone", "email", "source", "service")}
        return given | {
            "value_cents": data["value"],
            "owner": self.members.get(data["owner"]),
            "address": self.address(),
        }


class MoveForm(forms.Form):
    """Where a lead goes on the board."""

    stage = forms.ChoiceField(
        label=lazy("Stage"), choices=[choice for choice in Stage.choices if choice[0] != Stage.WON]
    )
    lost_reason = forms.ChoiceField(
        label=lazy("Why it was lost"), choices=[("", "–"), *LostReason.choices], required=False
    )
    note = forms.CharField(label=lazy("Note"), max_length=500, required=False)


class ClientForm(AddressForm):
    """A client with the main contact, new or changed."""

    kind = forms.ChoiceField(label=lazy("Kind"), choices=Client.Kind)
    name = forms.CharField(label=lazy("Name"), max_length=200)
    contact_name = forms.CharField(label=lazy("Contact"), max_length=200, required=False)
    email = forms.CharField(label=lazy("E-mail"), max_length=254, required=False, widget=forms.EmailInput)
    phone = forms.CharField(label=lazy("Phone"), max_length=40, required=False)
    tax_id = forms.CharField(
        label=lazy("Tax number"), max_length=20, required=False, widget=forms.TextInput(attrs=SHORT)
    )
    language = forms.ChoiceField(label=lazy("Language of documents"), choices=Client.Language)
    terms_days = forms.IntegerField(label=lazy("Days to pay"), min_value=0, max_value=365, required=False)
    tags = forms.CharField(label=lazy("Tags, separated by commas"), max_length=500, required=False)

    field_order = (
        "kind", "name", "contact_name", "email", "phone", *PARTS, "tax_id", "language", "terms_days", "tags",
    )  # fmt: skip

    def __init__(self, data: Any = None, *, company: Company, client: Client | None = None) -> None:
        super().__init__(data, initial=client_values(client) if client else {"language": company.locale})
        if client and client.tax_id_sealed:
            self.fields["tax_id"].help_text = _("Now %(masked)s; leave empty to keep it.") % {
                "masked": client.tax_id_masked
            }

    def given(self) -> dict[str, Any]:
        """What was typed, as `create_client` takes it."""
        data = self.cleaned_data
        plain = ("kind", "name", "contact_name", "email", "phone", "tax_id", "language", "terms_days")
        tags = [tag for tag in (part.strip() for part in data["tags"].split(",")) if tag]
        return {name: data[name] for name in plain} | {"tags": tags, "address": self.address()}

    def changes(self) -> dict[str, Any]:
        """The same as `update_client` takes it: an empty tax number stays what it is."""
        given = self.given()
        if not given["tax_id"]:
            del given["tax_id"]
        return given | {"billing_address": given.pop("address")}


class ContactForm(forms.Form):
    """A way to reach a client."""

    name = forms.CharField(label=lazy("Name"), max_length=200, required=False)
    email = forms.CharField(label=lazy("E-mail"), max_length=254, required=False, widget=forms.EmailInput)
    phone = forms.CharField(label=lazy("Phone"), max_length=40, required=False)
    role = forms.ChoiceField(label=lazy("Documents"), choices=Contact.Copies)


class SiteForm(AddressForm):
    """A property."""

    label = forms.CharField(label=lazy("Label"), max_length=80, required=False)
    access_notes = forms.CharField(label=lazy("How to get in"), max_length=500, required=False)

    field_order = ("label", *PARTS, "access_notes")


class NoteForm(forms.Form):
    """A note on a record."""

    body = forms.CharField(label=lazy("Note"), max_length=4000, widget=forms.Textarea)
    pinned = forms.BooleanField(label=lazy("Keep on top"), required=False)
