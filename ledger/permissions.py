"""One table: which role may do which deed. A deed has the same name as its action, its URL and its tool."""

from django.utils.translation import gettext as _

from ledger.errors import NotAllowed
from ledger.models.people import Membership, Role

EVERYONE = frozenset(Role)
STAFF = frozenset({Role.OWNER, Role.ADMIN, Role.OFFICE})
SELLERS = STAFF | {Role.SALES}
BOOKS = STAFF | {Role.ACCOUNTANT}
HEADS = frozenset({Role.OWNER, Role.ADMIN})

TABLE: dict[str, frozenset[Role]] = {
    "view_records": EVERYONE,
    "use_assistant": EVERYONE,
    "keep_passkeys": EVERYONE,
    "add_note": EVERYONE - {Role.VIEWER},
    "create_lead": SELLERS,
    "update_lead": SELLERS,
    "move_lead_stage": SELLERS,
    "convert_lead_to_client": SELLERS,
    "delete_lead": STAFF,
    "create_client": SELLERS,
    "update_client": SELLERS,
    "archive_client": STAFF,
    "delete_client": STAFF,
    "create_quote": SELLERS,
    "edit_quote_lines": SELLERS,
    "set_quote_terms": SELLERS,
    "send_quote": SELLERS,
    "withdraw_quote": SELLERS,
    "delete_quote": SELLERS,
    "restore_record": STAFF,
    "draft_message": SELLERS | {Role.ACCOUNTANT},
    "send_email": SELLERS | {Role.ACCOUNTANT},
    "create_invoice": BOOKS,
    "send_invoice": BOOKS,
    "delete_invoice": BOOKS,
    "record_payment": BOOKS,
    "refund_payment": BOOKS,
    "manage_price_book": STAFF,
    "import_records": HEADS,
    "pause_agent": HEADS,
    "change_settings": HEADS,
    "manage_members": HEADS,
    "reconcile_action": HEADS,
    "read_audit": HEADS | {Role.ACCOUNTANT},
    "export_audit": HEADS,
    "erase_audit": frozenset({Role.OWNER}),
    "read_all_actions": HEADS,
    "read_all_conversations": frozenset({Role.OWNER}),
}


def allowed(member: Membership, deed: str) -> bool:
    """Whether this member may do this deed now. An unknown deed is nobody's."""
    return member.active and member.role in TABLE.get(deed, frozenset())


def require(member: Membership, deed: str) -> None:
    """Raise NotAllowed unless the member may; the first line of every action."""
    if not allowed(member, deed):
        raise NotAllowed(_("You may not do this in this company."), deed=deed)
