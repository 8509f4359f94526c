"""docs/faults.md has all 32 rows, and every test that it names is there."""

import re

from tests.server import ROOT

FOLDERS = {name: f"tests/assistant/{name}/" for name in ("faults", "agent", "gate", "doors")}
NAMED = re.compile(r"(?:(faults|agent|gate|doors) )?`([\w/]+\.py)::(\w+)`")


def test_the_page_has_each_row_and_names_tests_that_exist():
    page = (ROOT / "docs" / "faults.md").read_text()
    rows = re.findall(r"^\| (\d+) \|", page, re.MULTILINE)
    assert [int(row) for row in rows] == list(range(1, 33))
    named = NAMED.findall(page)
    gone = [
        f"{file}::{test}"
        for folder, file, test in named
        if f"def {test}(" not in (ROOT / (FOLDERS.get(folder, "") + file)).read_text()
    ]
    assert (len(named) > 40, gone) == (True, [])
