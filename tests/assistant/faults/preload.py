"""What a nursery loads before it forks: the product with its addresses and commands, but no server's event loop."""

import django

django.setup()

import django_q.management.commands.qcluster  # noqa: E402, F401

import assistant.management.commands.run_agent  # noqa: E402, F401
import ledger.urls  # noqa: E402, F401
