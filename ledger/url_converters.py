"""What may stand in an address: anything else is no address of ours."""

from django.urls import register_converter
from django.urls.converters import get_converters

from ledger import refs


class Ref:
    """A public ref: C-0101, Q-1042."""

    regex = refs.REF

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class Sha256(Ref):
    """A document's fingerprint."""

    regex = "[0-9a-f]{64}"


def register() -> None:
    """Known to `path` under the names `ref` and `sha256`; a second call changes nothing."""
    for name, converter in (("ref", Ref), ("sha256", Sha256)):
        if name not in get_converters():
            register_converter(converter, name)
