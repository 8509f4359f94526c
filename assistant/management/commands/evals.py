"""`manage.py evals export` and `manage.py evals run`: cases from what people rejected, and a model tried on them.

    manage.py evals export --company lone-ridge --out cases.jsonl
    manage.py evals run cases.jsonl conversations.jsonl --times 3

A case is one line of JSON. `run` plays each against the configured model (without one: the rehearsal model) on the
company's records, of which nothing is changed, and says how often it succeeded, took the wrong target, claimed what was
not done, asked where a card was wanted, and pass^3: how likely three tries all succeed.
"""

import argparse
import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from assistant.agent.endpoint import RehearsalEndpoint
from assistant.agent.llm import Model
from assistant.agent.model_settings import ModelSettings
from assistant.insight.evals import exporting, running
from assistant.insight.evals.dry import Desk
from assistant.insight.evals.judging import Tally
from ledger import audit, tenancy
from ledger.models import Access, Company, Via

COUNTED = {
    "success": "succeeded",
    "wrong_target": "wrong target",
    "false_claim": "false claim",
    "needless": "needless confirmation",
}


class Command(BaseCommand):
    help = "Cases from what people rejected, changed or found wrong; and a model tried on such cases."

    def add_arguments(self, parser: CommandParser) -> None:
        ways = parser.add_subparsers(dest="way", required=True, parser_class=argparse.ArgumentParser)
        export = ways.add_parser("export", help="write each rejection and edit as a case")
        export.add_argument("--company", metavar="SLUG", help="only the company of this short name")
        export.add_argument("--out", type=Path, help="the file to write; standard output without it")
        run = ways.add_parser("run", help="try the configured model on cases")
        run.add_argument("files", nargs="+", type=Path, metavar="FILE", help="cases, a line of JSON each")
        run.add_argument("--company", metavar="SLUG", help="play all cases in this company instead of their own")
        run.add_argument("--times", type=int, default=3, help="tries of each case")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["way"] == "export":
            self._export(options["company"], options["out"])
        else:
            self._run(options["files"], options["company"], options["times"])

    def _export(self, wanted: str | None, out: Path | None) -> None:
        if out is None:
            number = self._write(wanted, self.stdout)
        else:
            with out.open("w", encoding="utf-8") as file:
                number = self._write(wanted, file)
        self.stderr.write(f"{number} cases")

    def _write(self, wanted: str | None, file: Any) -> int:
        number = 0
        with audit.entering(Via.SYSTEM, "evals"):
            for company in _companies(wanted):
                for case in exporting.export(company):
                    file.write(json.dumps(case, ensure_ascii=False) + "\n")
                    number += 1
        return number

    def _run(self, files: list[Path], company: str | None, times: int) -> None:
        cases = [case for file in files for case in _read(file)]
        played = [case for case in cases if running.possible(case)]
        for case in cases:
            if case not in played:
                self.stderr.write(f"{case['id']}: left out, it wants a tool that is not here")
        if not played:
            raise CommandError("No case to play.")
        desks = _Desks(company)
        self._say(asyncio.run(_tried(played, desks, max(1, times))))

    def _say(self, tally: Tally) -> None:
        for name, tried in tally.tries.items():
            good = sum(one.success for one in tried)
            why = next((f": {one.why}" for one in tried if one.why), "")
            self.stdout.write(f"{name} {good}/{len(tried)}{why}")
        for field, word in COUNTED.items():
            number, of = tally.count(field)
            self.stdout.write(f"{word}: {number} of {of} tries")
        chance = tally.passes()
        self.stdout.write(f"pass^3: {'–' if chance is None else format(chance, '.2f')} of {len(tally.tries)} cases")


class _Desks:
    """The desk of a case's member, by the short name of its company."""

    def __init__(self, instead: str | None) -> None:
        self._instead = instead

    def __call__(self, case: dict[str, Any]) -> Desk:
        slug = self._instead or case["tenant"]
        for company in _companies(slug):
            return Desk(company.pk, case["actor"], "pt-br" if case["lang"].lower().startswith("pt") else "en")
        raise CommandError(f"There is no company called {slug}.")


async def _tried(cases: list[dict[str, Any]], desks: _Desks, times: int) -> Tally:
    endpoint = RehearsalEndpoint() if settings.AVAL_REHEARSAL else None
    model = Model(ModelSettings.from_django(rehearsal_url=await endpoint.start() if endpoint else ""))
    try:
        return await running.run(cases, model, desks, times=times)
    finally:
        await model.aclose()
        if endpoint:
            await endpoint.close()


def _read(file: Path) -> Iterator[dict[str, Any]]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        yield from (json.loads(line) for line in lines if line.strip())
    except (OSError, ValueError) as error:
        raise CommandError(f"{file} cannot be read: {error}") from None


def _companies(wanted: str | None) -> Iterator[Company]:
    """Each company in its own scope, or the one of that short name."""
    for tenant_id in tenancy.each_tenant(list(Access.objects.values_list("tenant_id", flat=True).distinct())):
        company = Company.objects.get(pk=tenant_id)
        if wanted in (None, company.slug):
            yield company
