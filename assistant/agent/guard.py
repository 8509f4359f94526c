"""What a reply claims against what the record has (R10, T46): checked by code, not asked for in a prompt.

A sentence that says "sent", "refunded", "enviado" … about something whose card was not executed gets a line of the
system under it. The check is meant to be right when it speaks; it stays silent where it cannot tell.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from assistant.models import PendingAction, Status, ToolCall, Turn
from ledger.refs import REF

CLAIM: Final = re.compile(
    r"\b(sent|e-?mailed|mailed|texted|delivered|dispatched|posted|issued|refunded|charged|paid out|deleted|removed|"
    r"renamed|recorded|executed|(?:went|gone) out|on (?:its|their) way|j[áa] saiu|sa[íi]ram|"
    r"enviei|enviad[oa]s?|mandei|mandad[oa]s?|entregues?|emiti|emitid[oa]s?|reembolsei|reembolsad[oa]s?|cobrei|"
    r"cobrad[oa]s?|apaguei|apagad[oa]s?|exclu[íi]|exclu[íi]d[oa]s?|registrei|registrad[oa]s?|executad[oa]s?)\b",
    re.IGNORECASE,
)
HEDGED: Final = re.compile(
    r"\b(not|no|never|cannot|nothing|neither|without|unless|until|before|if|when|once|after you|will|would|can|could|"
    r"should|may|might|to be|be|being|reject\w*|cancel\w*|expired?|fail\w*|wait\w*|card|confirm\w*|draft|ready|"
    r"propos\w*|want|shall|let|ask\w*|undone|"
    r"não|nao|nunca|nada|nem|sem|se|quando|assim que|antes|depois|vou|vai|vamos|será|sera|serão|seria|pode\w*|deve|"
    r"ser|rejeit\w*|cancel\w*|expir\w*|falh\w*|aguard\w*|cart[ãa]o|rascunho|pront[oa]|propos\w*|quer\w*)\b|n't\b|\?",
    re.IGNORECASE,
)
IN_PERSON: Final = re.compile(
    r"^\W*(?:(?:done|ok|okay|sure|all set|pronto|prontinho|feito|certo|tudo certo)\W+)?"
    r"(?:I(?: have|['’]ve)?(?: just| now| already)* "
    r"(?:sent|e-?mailed|mailed|refunded|issued|delivered|charged|deleted|recorded|dispatched)|"
    r"(?:(?:eu|j[áa]|acabei de) )*(?:enviei|mandei|emiti|reembolsei|cobrei|apaguei|exclu[íi]|registrei|"
    r"enviar|mandar|emitir|reembolsar|cobrar|apagar|excluir|registrar))\b(?! (?:nothing|neither|none|nada|nenhum))",
    re.IGNORECASE,
)
"""A person's own word for it at the start ("Pronto, enviei …"): what follows ("before noon") no longer hedges it."""
ON_A_CARD: Final = re.compile(
    r"\b(card|confirm\w*|approv\w*|draft|cart[ãa]o|aprova\w*|rascunho)\b|\?|^\W*(?:enviar|mandar|emitir|reembolsar|"
    r"cobrar|apagar|excluir|registrar)\b",
    re.IGNORECASE,
)
SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+|\n+")
TOKEN: Final = re.compile(rf"\b{REF}\b|[\w.+-]+@[\w-]+\.[\w.-]*\w")
HAPPENED: Final = re.compile(
    r"\"(status|delivery|state)\": ?\"(sent|viewed|accepted|delivered|paid|refunded|issued|executed)\""
)
RECENT: Final = 20


def unfounded(turn: Turn, text: str) -> list[PendingAction]:
    """The actions that the text says were done and that were not; empty where it claims nothing of the kind."""
    sentences = list(claims(text))
    if not sentences:
        return []
    recent = PendingAction.objects.filter(conversation_id=turn.conversation_id).exclude(status=Status.SUPERSEDED)
    actions = list(recent.order_by("-pk")[:RECENT])
    done = [action for action in actions if action.status == Status.EXECUTED]
    undone = [action for action in actions if action.status != Status.EXECUTED]
    if not undone:
        return []
    backed = set().union(*(_tokens(action.summary) for action in done)) | _read_as_done(turn)
    found: dict[str, PendingAction] = {}
    for sentence in sentences:
        named = _tokens(sentence)
        if named:
            accused = [action for action in undone if named & _tokens(action.summary) - backed]
        else:
            accused = [] if done else [action for action in undone if action.turn_id == turn.pk]
        found |= {str(action.pk): action for action in accused}
    return list(found.values())


def claims(text: str) -> Iterator[str]:
    """Sentences that say, without an if or a not, that something was done."""
    for sentence in SENTENCE.split(text):
        in_person = IN_PERSON.search(sentence) and not ON_A_CARD.search(sentence)
        if in_person or (CLAIM.search(sentence) and not HEDGED.search(sentence)):
            yield sentence


def _tokens(text: str) -> set[str]:
    """Refs and addresses: what an action and a sentence can be told to be about."""
    return {found.casefold() for found in TOKEN.findall(text)}


def _read_as_done(turn: Turn) -> set[str]:
    """What this turn has read, in our own records, to have happened."""
    results: Iterable[str] = ToolCall.objects.filter(turn=turn, status=ToolCall.Status.DONE).values_list(
        "result", flat=True
    )
    return set().union(*(_tokens(result) for result in results if HAPPENED.search(result)))
