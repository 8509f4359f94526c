"""Counts the statements of each process in a file of its own in AVAL_COUNT_FOLDER."""
