"""The one error that a person or a model may read."""

from collections.abc import Mapping


class DomainError(Exception):
    """A rule of the business refused.

    `code` is stable and for programs, `sentence` is fit to show (already in the reader's language),
    `data` carries what is needed to ask the right question (candidates, a balance, a field's name).
    """

    def __init__(self, code: str, sentence: str, **data: object) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = str(sentence)
        self.data: Mapping[str, object] = data


class NotAllowed(DomainError):
    """The person lacks the permission, here and now."""

    def __init__(self, sentence: str, **data: object) -> None:
        super().__init__("FORBIDDEN", sentence, **data)


class NotFound(DomainError):
    """No such record in this company; strangers' records answer the same."""

    def __init__(self, sentence: str, **data: object) -> None:
        super().__init__("NOT_FOUND", sentence, **data)
