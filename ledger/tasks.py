"""What the queue calls. Thin: find the job, run it."""

import uuid
from datetime import timedelta

from django.db.models.functions import Now

from ledger import audit, jobs, lifeline, nightly, regular, tenancy
from ledger.actions import quotes
from ledger.models import Knock, Quote, Via

KNOCKS_KEPT = timedelta(minutes=5)


def run_due(kind: str, object_id: str, tenant_id: str) -> None:
    """Run the job that was promised for one row."""
    jobs.run(kind, uuid.UUID(object_id), uuid.UUID(tenant_id))


@jobs.job("expire_quote")
def expire_quote(tenant_id: uuid.UUID, quote_id: uuid.UUID) -> None:
    """The last day of a sent quote is over."""
    with audit.entering(Via.SYSTEM, "worker"), tenancy.tenant(tenant_id):
        quote = Quote.objects.filter(pk=quote_id, deleted_at=None).first()
        if quote is not None:
            quotes.expire_quote(quote)


def sweep() -> None:
    """Each minute: wake what a lost message left behind, forget old knocks, see that the rows are of this life, that
    every company's chain will be read, and that its regular jobs stand.
    """
    Knock.objects.filter(since__lt=Now() - KNOCKS_KEPT).delete()
    if lifeline.moved():
        lifeline.mend()
    nightly.promise_all()
    regular.promise_all()
    jobs.dispatch_due()
