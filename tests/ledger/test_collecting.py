"""The collector looks through what came after the start alone."""

import subprocess
import sys

from tests.server import ROOT

SPARE = """
import gc
from ledger import collecting
collecting.spare_what_is_loaded()
made = [[] for _ in range(100)]
print(gc.get_freeze_count() > 1000, len(gc.get_objects()) < 1000, gc.get_threshold()[0])
"""


def test_what_is_loaded_at_the_start_is_never_looked_through_again() -> None:
    told = subprocess.run([sys.executable, "-c", SPARE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["True", "True", "5000"]
