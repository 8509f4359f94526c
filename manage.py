#!/usr/bin/env python
"""Django's command line for this project."""

import os
import sys

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

PROCESS_OF_COMMAND = {"run_agent": "agent", "qcluster": "worker", "runserver": "web", "migrate": "migrate"}


def main() -> None:
    """Run one command; a missing or wrong setting is one line, not a traceback."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ledger.settings")
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    os.environ.setdefault("AVAL_PROCESS", PROCESS_OF_COMMAND.get(command, "command"))
    try:
        settings.INSTALLED_APPS  # noqa: B018 (reading one loads them all)
    except ImproperlyConfigured as error:
        sys.exit(f"Aval does not start: {error}")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
