"""docs/cases.md names tests that exist, and every case is held by one or says what it waits for."""

import re

from tests.server import ROOT

ROW = re.compile(r"^\| ([HT]\d\d) \| (.*?) \| (.*?) \|$", re.MULTILINE)
ROWS = ROW.findall((ROOT / "docs" / "cases.md").read_text())


def test_every_test_that_the_page_names_is_there():
    named = {test for _case, held, _later in ROWS for test in re.findall(r"`([^`]+)`", held)}
    gone = {
        test for test in named if f"def {test.partition('::')[2]}(" not in (ROOT / test.partition("::")[0]).read_text()
    }
    assert (len(named) > 100, gone) == (True, set())


def test_every_case_is_held_or_waits_for_something():
    assert [case for case, held, later in ROWS if not held and not later] == []
    assert len(ROWS) == 60 + 62
