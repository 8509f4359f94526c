"""What each kind of event is called, in the reader's language. A test holds that no kind is without a word."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as lazy

NOUNS: dict[str, Promise] = {
    "action": lazy("Actions"),
    "turn": lazy("Turns"),
    "conversation": lazy("Conversations"),
    "client": lazy("Clients"),
    "lead": lazy("Leads"),
    "quote": lazy("Quotes"),
    "invoice": lazy("Invoices"),
    "payment": lazy("Payments"),
    "refund": lazy("Refunds"),
    "credit_note": lazy("Credit notes"),
    "price_item": lazy("Price book"),
    "message": lazy("Messages"),
    "note": lazy("Notes"),
    "record": lazy("Trash"),
    "member": lazy("Members"),
    "company": lazy("Company"),
    "agent": lazy("The assistant"),
    "alert": lazy("Alerts"),
    "admin": lazy("The operator's staff"),
    "audit": lazy("The record itself"),
}
"""What an event can be about, in the order in which it is offered."""
BELONGS = {
    "site": "client",
    "history": "action",
    "passkey": "member",
    "user": "admin",
    "sandbox": "admin",
    "settings": "company",
    "review_policy": "company",
    "standing_approval": "company",
    "check": "action",
    "delegation": "member",
}
"""Kinds that begin with another noun than that under which they are found."""
KINDS: dict[str, Promise] = {
    "action.proposed": lazy("Card put up"),
    "action.seen": lazy("Card seen"),
    "action.read": lazy("Card of another read"),
    "action.story_read": lazy("Whole story read"),
    "action.asked": lazy("Question asked on a card"),
    "action.confirmed": lazy("Confirmed"),
    "action.confirmed_by_rule": lazy("Confirmed by a standing approval"),
    "action.rejected": lazy("Rejected"),
    "action.cancelled": lazy("Card closed without deciding"),
    "action.undone": lazy("Taken back before it ran"),
    "action.confirm_not_taken": lazy("Confirming came to nothing"),
    "action.edit_not_taken": lazy("Editing came to nothing"),
    "action.reject_not_taken": lazy("Rejecting came to nothing"),
    "action.cancel_not_taken": lazy("Closing came to nothing"),
    "action.undo_not_taken": lazy("Taking back came to nothing"),
    "action.expired": lazy("Card expired"),
    "action.escalated": lazy("Second person called"),
    "action.superseded": lazy("Card replaced"),
    "action.went_stale": lazy("Records behind a card changed"),
    "action.started": lazy("Began to run"),
    "action.executed": lazy("Done"),
    "action.failed": lazy("Not done"),
    "action.in_doubt": lazy("Went in doubt"),
    "action.looked_up": lazy("Looked up at the provider"),
    "action.late_answer": lazy("Late answer of the provider"),
    "action.settled": lazy("Settled by a person"),
    "action.reversed": lazy("Reversed"),
    "action.mismatch": lazy("Receipt is not what was promised"),
    "history.read": lazy("Everybody's ended cards read"),
    "turn.retried": lazy("Turn tried again"),
    "turn.stopped": lazy("Turn stopped"),
    "conversation.read": lazy("Conversation of another read"),
    "client.created": lazy("Client added"),
    "client.updated": lazy("Client changed"),
    "client.archived": lazy("Client archived"),
    "client.deleted": lazy("Client moved to the trash"),
    "client.contact_added": lazy("Contact added"),
    "client.contact_changed": lazy("Contact changed"),
    "client.contact_removed": lazy("Contact removed"),
    "site.added": lazy("Site added"),
    "lead.created": lazy("Lead added"),
    "lead.updated": lazy("Lead changed"),
    "lead.moved": lazy("Lead moved to another stage"),
    "lead.converted": lazy("Lead became a client"),
    "lead.deleted": lazy("Lead moved to the trash"),
    "quote.created": lazy("Quote made"),
    "quote.imported": lazy("Quote imported"),
    "quote.lines_edited": lazy("Lines of a quote changed"),
    "quote.terms_set": lazy("Terms of a quote set"),
    "quote.revised": lazy("Quote revised"),
    "quote.send_reserved": lazy("Quote about to be sent"),
    "quote.sent": lazy("Quote sent"),
    "quote.send_failed": lazy("Quote not sent"),
    "quote.viewed": lazy("Quote seen by the client"),
    "quote.accepted": lazy("Quote accepted"),
    "quote.declined": lazy("Quote declined"),
    "quote.changes_requested": lazy("Changes to a quote asked for"),
    "quote.withdrawn": lazy("Quote withdrawn"),
    "quote.expired": lazy("Quote expired"),
    "quote.deleted": lazy("Quote moved to the trash"),
    "invoice.created": lazy("Invoice drafted"),
    "invoice.issued": lazy("Invoice issued"),
    "invoice.send_reserved": lazy("Invoice about to be sent"),
    "invoice.sent": lazy("Invoice sent"),
    "invoice.send_failed": lazy("Invoice not sent"),
    "invoice.deleted": lazy("Invoice draft moved to the trash"),
    "payment.recorded": lazy("Payment recorded"),
    "payment.received": lazy("Payment received"),
    "refund.reserved": lazy("Refund about to be made"),
    "refund.succeeded": lazy("Refund made"),
    "refund.failed": lazy("Refund not made"),
    "credit_note.issued": lazy("Credit note issued"),
    "price_item.created": lazy("Price item added"),
    "price_item.repriced": lazy("Price changed"),
    "price_item.archived": lazy("Price item archived"),
    "price_item.restored": lazy("Price item brought back"),
    "message.drafted": lazy("Message drafted"),
    "message.discarded": lazy("Message discarded"),
    "message.reserved": lazy("Message about to be sent"),
    "message.sent": lazy("Message sent"),
    "message.failed": lazy("Message not sent"),
    "message.in_doubt": lazy("Message: not known if sent"),
    "message.received": lazy("Message received"),
    "note.added": lazy("Note added"),
    "note.deleted": lazy("Note deleted"),
    "record.restored": lazy("Record brought back from the trash"),
    "member.added": lazy("Member added"),
    "member.changed": lazy("Member changed"),
    "member.deactivated": lazy("Member deactivated"),
    "delegation.given": lazy("Approvals given to another"),
    "delegation.ended": lazy("Approvals taken back from another"),
    "passkey.added": lazy("Passkey added"),
    "passkey.removed": lazy("Passkey removed"),
    "passkey.count_went_back": lazy("Passkey may have been copied"),
    "company.created": lazy("Company founded"),
    "settings.changed": lazy("Settings changed"),
    "review_policy.changed": lazy("Review policy changed"),
    "standing_approval.written": lazy("Standing approval written"),
    "standing_approval.turned_on": lazy("Standing approval turned on"),
    "standing_approval.ended": lazy("Standing approval ended"),
    "agent.paused": lazy("Assistant paused"),
    "agent.turned_on": lazy("Assistant turned on"),
    "alert.handled": lazy("Alert handled"),
    "check.marked": lazy("Deed marked afterwards"),
    "admin.entered": lazy("Staff entered the company"),
    "admin.left": lazy("Staff left the company"),
    "sandbox.set": lazy("Sandbox set"),
    "user.added": lazy("Staff account added"),
    "user.changed": lazy("Staff account changed"),
    "user.deleted": lazy("Staff account deleted"),
    "audit.verified": lazy("Chain verified"),
    "audit.exported": lazy("Record exported"),
    "audit.evals_exported": lazy("Cases taken out for evals"),
    "audit.erased": lazy("Record erased in part"),
}
PROBLEMS: dict[str, Promise] = {
    "missing": lazy("a link is missing, moved or added"),
    "hash": lazy("an event is not what its link was made of"),
    "columns": lazy("an event's columns do not say what its body says"),
    "erased": lazy("an event was erased without a deed on record"),
    "head": lazy("the chain does not end where its head stands"),
    "unlinked": lazy("an event stands outside the chain"),
}
"""What a verification may find (ledger.chain.ChainState)."""


def word(kind: str) -> str:
    """The kind in words; one that has none is shown as it is written."""
    return str(KINDS.get(kind, kind))


def noun_of(kind: str) -> str:
    first = kind.partition(".")[0]
    return BELONGS.get(first, first)


def kinds_of(wanted: str) -> tuple[str, ...]:
    """The kinds that a noun or a kind stands for; none for what is neither."""
    if wanted in KINDS:
        return (wanted,)
    return tuple(kind for kind in KINDS if noun_of(kind) == wanted) if wanted in NOUNS else ()


def problem(code: str) -> str:
    return str(PROBLEMS.get(code, code))
