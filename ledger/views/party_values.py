"""What the forms of leads and clients show at first: the record as it stands."""

from typing import Any

from ledger import reader
from ledger.models import Client, Company, Lead


def lead_values(lead: Lead, company: Company) -> dict[str, Any]:
    plain = ("name", "phone", "email", "source", "service")
    value = reader.amount(lead.value_cents, company.currency) if lead.value_cents else ""
    return (
        {name: getattr(lead, name) for name in plain}
        | lead.address_parts
        | {
            "value": value,
            "owner": str(lead.owner_id or ""),
        }
    )


def client_values(client: Client) -> dict[str, Any]:
    """The client and its main contact; never the tax number."""
    contact = client.main_contact
    plain = ("kind", "name", "language", "terms_days")
    return (
        {name: getattr(client, name) for name in plain}
        | client.address_parts
        | {
            "tags": ", ".join(client.tags),
            "contact_name": contact.name if contact else "",
            "email": contact.email if contact else "",
            "phone": contact.phone if contact else "",
        }
    )
