"""The queue's own command, which first makes sure of its role (see ledger/roles.py)."""

from typing import Any

from django_q.management.commands import qcluster

from ledger import roles


class Command(qcluster.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        roles.require_bound()
        super().handle(*args, **options)
