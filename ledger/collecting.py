"""What the garbage collector looks through: not the program itself, which never becomes garbage.

Modules, models, templates and compiled queries are some hundred thousand objects. To look through them all takes a
third of a second in which no thread of the process runs, and a busy process does so every few seconds.
"""

import gc

YOUNG = 5_000
"""Objects made since the last look before the youngest are looked through; a request makes more than Python's 700."""


def spare_what_is_loaded() -> None:
    """Leave everything that is there now out of every later look. Call it once, when the process has loaded all."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])
