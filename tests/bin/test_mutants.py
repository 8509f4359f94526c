"""The deliberate faults: each can still be put in its place, and each has tests that exist."""

import tomllib

import pytest

from bin.workshop import mutants
from bin.workshop.mutants import ROOT

MUTANTS = tomllib.loads((ROOT / "bin" / "workshop" / "mutants.toml").read_text())["mutant"]


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant["name"] for mutant in MUTANTS])
def test_each_fault_has_its_place_and_its_tests(mutant):
    for file, change in mutants.changes(mutant):
        text = (ROOT / file).read_text()
        assert text.count(change["find"]) == change.get("times", 1)
        assert change["find"] != change["replace"]
    for test in mutant["tests"]:
        assert (ROOT / test.partition("::")[0]).exists()
