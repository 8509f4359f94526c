"""`manage.py restored`: close what waits from before a restore that leaves no trace, such as a disk's snapshot.

Any other restore is found by the worker itself (see ledger/lifeline.py). Run it while no worker runs.
"""

from typing import Any

from django.core.management.base import BaseCommand

from ledger import lifeline


class Command(BaseCommand):
    help = "After a restore to an earlier moment: let nothing from before it run by itself."

    def handle(self, *args: Any, **options: Any) -> None:
        lifeline.mend(forced=True)
        self.stdout.write("What waited is closed: in doubt, to be looked up, or to be asked again.")
