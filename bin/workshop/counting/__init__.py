"""Counts the statements of a process: one byte for each, appended to AVAL_COUNT_FILE."""
