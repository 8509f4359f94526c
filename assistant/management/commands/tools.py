"""`manage.py tools`: the catalogue of tools as a table, or as JSON for programs (docs/interfaces.md)."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from assistant.tools import registry
from assistant.tools.describing import described

COLUMNS = ("name", "level", "effects", "operation", "permission", "label")


class Command(BaseCommand):
    help = "List every tool of the catalogue, sorted by name."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the whole declarations as a JSON list")

    def handle(self, *args: Any, **options: Any) -> None:
        catalogue = [described(made) for _name, made in sorted(registry.TOOLS.items())]
        if options["json"]:
            self.stdout.write(json.dumps(catalogue, ensure_ascii=False, indent=2))
            return
        rows = [COLUMNS, *(_row(tool) for tool in catalogue)]
        widths = [max(len(row[at]) for row in rows) for at in range(len(COLUMNS))]
        for row in rows:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            self.stdout.write("  ".join(cells).rstrip())


def _row(tool: dict[str, Any]) -> tuple[str, ...]:
    return (
        tool["name"],
        f"L{tool['level']}",
        ",".join(tool["effects"]) or "-",
        tool["operation"] if tool["gated"] else "-",
        tool["permission"],
        tool["label"]["en"],
    )
