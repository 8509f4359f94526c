"""Numbers in texts: a count that may be one has two forms (ngettext), in every message of the catalogue."""

import re
from collections.abc import Iterator

import pytest
from babel.messages.pofile import read_po
from django.utils import translation

from assistant.doors import wording
from bin.workshop.messages import LOCALES, path_of
from ledger import audit
from ledger.admin.audit import finding

_COUNTED = re.compile(r"%\((\w+)\)[sd](?:</span>)? ([a-z]+s)\b")
_NO_NOUNS = frozenset({"is", "was", "has"})
_NO_NUMBERS = frozenset(
    {"amount", "cause", "company", "email", "item", "invoice", "lead", "name", "payment", "quote", "ref", "who", "site"}
    | {"address", "client", "excess", "kept", "message", "version"}
)
_LIMITS = frozenset({"most", "to", "cc"})
"""Fixed limits of the product, all above one."""
_NEVER_ONE = {
    "%(ref)s is %(day)s days old; a Pix can be sent back for %(most)s days.": "said of what is older than ninety days",
    "This message has %(length)d characters; %(most)d are the most.": "said of what is longer than eight thousand",
}


def counted(text: str) -> list[str]:
    return [
        name for name, word in _COUNTED.findall(text) if word not in _NO_NOUNS and name not in _NO_NUMBERS | _LIMITS
    ]


def without_plural() -> Iterator[str]:
    with path_of(LOCALES[0]).open("rb") as file:
        for message in read_po(file):
            if isinstance(message.id, str) and counted(message.id) and message.id not in _NEVER_ONE:
                yield message.id


def test_the_walk_finds_what_it_looks_for() -> None:
    assert counted("It leaves %(seconds)s seconds after you confirm.") == ["seconds"]
    assert counted('in <span class="num">%(left)s</span> seconds.') == ["left"]
    assert counted("%(ref)s is paid; at most %(most)d characters") == []


def test_every_counted_noun_has_two_forms() -> None:
    assert list(without_plural()) == []


@pytest.mark.parametrize(
    ("language", "seconds", "sentence"),
    [
        ("en", 1, "It leaves 1 second after you confirm."),
        ("en", 10, "It leaves 10 seconds after you confirm."),
        ("pt-br", 1, "Sai 1 segundo depois que você confirmar."),
        ("pt-br", 10, "Sai 10 segundos depois que você confirmar."),
    ],
)
def test_a_phrase_of_a_card_counts(language: str, seconds: int, sentence: str) -> None:
    with translation.override(language):
        assert wording.sentence({"code": "leaves_after", "params": {"seconds": seconds}}) == sentence


def test_a_phrase_without_its_number_is_named_by_its_code() -> None:
    assert wording.sentence({"code": "leaves_after", "params": {}}) == "leaves_after"


@pytest.mark.parametrize(("length", "links"), [(1, "1 link, as it was"), (2, "2 links, each as it was")])
def test_a_chain_of_one_link(length: int, links: str) -> None:
    assert finding(audit.ChainState(length, None, "")) == f"The chain is whole: {links} made."
