"""The queue's own command, which first makes sure of its role (ledger/roles.py) and its rows (ledger/lifeline.py)."""

import contextlib
from typing import Any

from django.db import OperationalError, connections
from django_q.management.commands import qcluster

from ledger import lifeline, roles


class Command(qcluster.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        roles.require_bound()
        with contextlib.suppress(OperationalError):  # away: the first job asks when it is back
            lifeline.mend()
        connections.close_all()  # nothing may be open when the cluster forks
        super().handle(*args, **options)
