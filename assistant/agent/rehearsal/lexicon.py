"""The word lists of lexicon.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

LEXICON: Final[dict[str, frozenset[str]]] = {
    name: frozenset(words.split())
    for name, words in tomllib.loads(Path(__file__).with_name("lexicon.toml").read_text(encoding="utf-8")).items()
}
