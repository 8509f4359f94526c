"""`manage.py run_agent`: run the agent's turns until SIGTERM or Ctrl-C."""

import asyncio
import os
import signal
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assistant.agent.endpoint import EndpointFailed
from assistant.agent.runner import Runner
from ledger import collecting, roles

SWITCH_SECONDS = 0.001
"""How long a thread may keep the interpreter while the event loop waits; Python's 5 ms show in a stream."""


class Command(BaseCommand):
    help = "Run the agent: claim turns and run them, several hundred at once."

    def handle(self, *args: Any, **options: Any) -> None:
        roles.require_bound()
        sys.setswitchinterval(SWITCH_SECONDS)
        collecting.spare_what_is_loaded()
        try:
            asyncio.run(run())
        except EndpointFailed as error:
            raise CommandError(f"The agent does not start: {error}.") from None
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)  # all that counts is committed; a tool's thread that still waits for something must not hold us up


async def run() -> None:
    """Run until a signal asks for the end; a second one is obeyed at once."""
    runner = Runner()
    loop = asyncio.get_running_loop()

    def end() -> None:
        runner.stop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
    await runner.run()
