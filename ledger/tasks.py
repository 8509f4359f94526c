"""What the queue calls. Thin: find the job, run it."""

import uuid

from ledger import jobs


def run_due(kind: str, object_id: str, tenant_id: str) -> None:
    """Run the job that was promised for one row."""
    jobs.run(kind, uuid.UUID(object_id), uuid.UUID(tenant_id))


def sweep() -> None:
    """Each minute: wake whatever a lost message left behind."""
    jobs.dispatch_due()
