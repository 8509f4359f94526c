"""What clients and sites are found by; written whenever one of the parts changes."""

from ledger.actions import rows
from ledger.models import Client, Membership, Site
from ledger.text import search_key


def client_search(client: Client) -> str:
    """Name, ref, tags, contacts, the bills' address and the sites. Reads both relations as they stand."""
    parts = [client.ref, client.name, client.address, *client.tags]
    for contact in client.contacts.all():
        parts += [contact.name, contact.email, contact.phone]
    parts += [f"{site.label} {site.address}" for site in client.sites.all() if site.deleted_at is None]
    return search_key(" ".join(parts))


def site_search(site: Site) -> str:
    """Ref, label and address."""
    return search_key(f"{site.ref} {site.label} {site.address}")


def refresh(client: Client, *, by: Membership | None) -> None:
    """A contact or a site of a locked client changed: one version more, and found by what is true now."""
    rows.write(client, by=by, search=client_search(client))
