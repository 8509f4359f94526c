"""What people are told of by an alert because the record itself is not as it should be."""

from assistant.models import Alert
from ledger import nightly
from ledger.chain import ChainState

CHAIN_BROKEN = "chain_broken"


@nightly.when_broken
def chain_broken(_finding: ChainState) -> None:
    """One alert stays open until somebody with the right to has looked and says what they found."""
    if not Alert.objects.filter(kind=CHAIN_BROKEN, handled_at=None).exists():
        Alert.objects.create(kind=CHAIN_BROKEN)
