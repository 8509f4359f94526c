"""docs/cases.md names tests that exist, and every case is held by one or says what it waits for."""

import re

from tests.conversing import STORIES
from tests.server import ROOT

ROW = re.compile(r"^\| ([HT]\d\d) \| (.*?) \| (.*?) \|$", re.MULTILINE)
PAGE = (ROOT / "docs" / "cases.md").read_text()
ROWS = ROW.findall(PAGE)
TOLD = re.findall(r"^\| ((?:en|pt)-\d\d), .*? \| (.*?) \| ?(.*?) ?\|$", PAGE, re.MULTILINE)


def test_every_test_that_the_page_names_is_there():
    named = {test for _case, held, _later in ROWS for test in re.findall(r"`([^`]+)`", held)}
    gone = {
        test for test in named if f"def {test.partition('::')[2]}(" not in (ROOT / test.partition("::")[0]).read_text()
    }
    assert (len(named) > 100, gone) == (True, set())


def test_every_case_is_held_or_waits_for_something():
    assert [case for case, held, later in ROWS if not held and not later] == []
    assert len(ROWS) == 60 + 62


def test_every_conversation_is_played_or_waits_for_a_tool():
    played = {story["id"].partition(",")[0] for story in STORIES}
    twice = {story["id"].partition(",")[0] for story in STORIES if story.get("rehearsed")}
    assert {name for name, held, _waits in TOLD if held} == played
    assert {name for name, held, _waits in TOLD if "rehearsed" in held} == twice
    assert [name for name, held, waits in TOLD if held in ("", "the question") and not waits] == []
    assert len(TOLD) == 13
