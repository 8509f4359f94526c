"""The properties that are worked on."""

from collections.abc import Mapping

from django.db import transaction
from django.utils.translation import gettext as _

from ledger import audit, permissions
from ledger.actions import columns, rows
from ledger.actions.client_index import refresh, site_search
from ledger.errors import DomainError
from ledger.models import Client, Lead, Membership, Site
from ledger.numbering import take_number


@transaction.atomic
def add_site(
    party: Client | Lead,
    *,
    by: Membership,
    address: Mapping[str, str],
    label: str = "",
    access_notes: str = "",
    ref: str = "",
) -> Site:
    """Add a property of a client or a lead. Raises ADDRESS_INCOMPLETE without a street.

    A company that brings its numbers along gives `ref`.
    """
    permissions.require(by, "update_client" if isinstance(party, Client) else "update_lead")
    held = rows.locked(party)
    written = columns.address(address, columns.company().country)
    if not written["line1"]:
        raise DomainError("ADDRESS_INCOMPLETE", _("The address lacks its street."), field="line1")
    site = Site(
        **rows.made_by(by),
        **written,
        client=held if isinstance(held, Client) else None,
        lead=held if isinstance(held, Lead) else None,
        label=columns.line(label, "label", 80),
        access_notes=columns.line(access_notes, "access_notes", 500),
        ref=ref or take_number("site"),
    )
    site.search = site_search(site)
    site.save(force_insert=True)
    if isinstance(held, Client):
        refresh(held, by=by)
    else:
        rows.write(held, by=by)
    audit.record("site.added", by=by, subject=held, ref=held.ref, site=site.ref, address=site.address)
    return site
