"""Whom or what a sentence is about, once the words of the command are taken away."""

from __future__ import annotations

import re
from typing import Final

from assistant.agent.rehearsal.lexicon import LEXICON
from assistant.agent.rehearsal.words import EMAIL, MONEY, PHONE, TOKEN, plain, without_refs

COMMAND: Final = LEXICON["command"]
PARTICLES: Final = frozenset({"da", "de", "do", "das", "dos", "e", "of", "the", "&"})
CLAUSE: Final = re.compile(
    r"\s*(?:[:\n]|\b(?:that|saying|to say|to tell (?:him|her|them)|letting (?:him|her|them) know|dizendo|avisando|"
    r"falando|"
    r"informando|contando)\b(?:\s+(?:that|que))?|,?\s+que\b)\s*",
    re.IGNORECASE,
)


def subjects(text: str) -> list[str]:
    """The runs of words that are no command, as written, the likeliest name first.

    A possessive and a punctuation mark end a run; a particle between two capitals does not ("Condomínio
    Jardim das Flores"). Runs with a capital letter come before those without.
    """
    cleaned = MONEY.sub(" , ", PHONE.sub(" , ", EMAIL.sub(" , ", without_refs(text).replace("’", "'"))))
    runs: list[list[str]] = [[]]
    end = 0
    found = list(TOKEN.finditer(cleaned))
    for place, match in enumerate(found):
        if re.search(r"[,.;:!?()\"“”/]", cleaned[end : match.start()]):
            runs.append([])
        end = match.end()
        word = match[0].rstrip(".-'/&+@")
        bare = re.sub(r"'s$", "", word)
        if _is_particle(word, runs[-1], found[place + 1 : place + 2]):
            runs[-1].append(word)
        elif plain(bare) in COMMAND or not re.search(r"[^\W\d]", bare):
            runs.append([])
        else:
            runs[-1].append(bare)
            if bare != word or match[0].endswith("."):
                runs.append([])
    named = [" ".join(run) for run in runs if run]
    return sorted(named, key=lambda run: not any(word[0].isupper() for word in run.split()))


def subject(text: str) -> str:
    """The likeliest name in a text, or ""."""
    return next(iter(subjects(text)), "")


def split_clause(text: str) -> tuple[str, str]:
    """The command and what is to be said: "email John that we come" gives "email John" and "we come"."""
    found = CLAUSE.search(text)
    if not found:
        return text, ""
    return text[: found.start()], text[found.end() :].strip(" \"“”'")


def _is_particle(word: str, run: list[str], following: list[re.Match[str]]) -> bool:
    if not run or word.lower() not in PARTICLES or not following:
        return False
    return run[-1][0].isupper() and following[0][0][0].isupper() and plain(following[0][0]) not in COMMAND
