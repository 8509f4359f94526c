"""What a provider's answer can mean to us: done, certainly not done, or not known (R11)."""

from dataclasses import dataclass

from django.db import transaction


@dataclass(frozen=True, slots=True)
class Accepted:
    """The provider took it; `provider_id` is its own name for it, `detail` what else it said."""

    provider_id: str
    detail: str = ""


class ProviderError(Exception):
    """A call to a provider that did not end with its acceptance. `sentence` is fit to show."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code, self.sentence = code, str(sentence)


class Refused(ProviderError):
    """Clearly not done: nothing has gone out and nothing will."""


class Uncertain(ProviderError):
    """It may have gone out: the answer never came or cannot be read. Look it up; never send again."""


def require_no_transaction() -> None:
    """Raises RuntimeError inside a transaction: what goes out is not rolled back with it."""
    if transaction.get_connection().in_atomic_block:
        raise RuntimeError("a provider is called outside any transaction")
