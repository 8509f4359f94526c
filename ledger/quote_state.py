"""Where one sent revision stands for the client who holds its link."""

from datetime import datetime
from enum import StrEnum

from ledger import dates
from ledger.models import Quote, QuoteRevision


class State(StrEnum):
    OPEN = "open"
    ACCEPTED = "accepted"
    DECLINED = "declined"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"


def state_of(quote: Quote, revision: QuoteRevision, zone: str, now: datetime | None = None) -> State:
    """The state at this moment; the last day counts to its end in the company's zone, whatever a job has done yet."""
    if revision.status == QuoteRevision.Status.SUPERSEDED:
        return State.SUPERSEDED
    if quote.status in (Quote.Status.ACCEPTED, Quote.Status.CONVERTED):
        return State.ACCEPTED
    if revision.declined_at is not None:
        return State.DECLINED
    if quote.status == Quote.Status.WITHDRAWN or revision.valid_until is None:
        return State.WITHDRAWN
    return State.OPEN if dates.is_open(revision.valid_until, zone, now) else State.EXPIRED
