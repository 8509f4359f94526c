"""Money back to where it came from: the port of the card provider, and of Pix, which is asked the same way.

An adapter asks once under our key and tells acceptance, refusal and doubt apart; it never retries (H60).
"""

import uuid
from dataclasses import dataclass
from typing import Protocol

from ledger.providers.outcomes import Accepted


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundRequest:
    """One refund, under the key of the action that asks for it. `payment_id` is the provider's own id of the payment;
    the amount is in whole cents of the currency."""

    company_id: uuid.UUID
    key: str
    payment_id: str
    amount_cents: int
    currency: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", str(self.key))
        if self.amount_cents <= 0 or not self.payment_id:
            raise ValueError("a refund names a payment and an amount above zero")


class CardPort(Protocol):
    """What the business asks of a provider of payments. `name` goes on record with what it did."""

    name: str

    def refund(self, request: RefundRequest) -> Accepted:
        """Send money back, once. Raises Refused (not done) or Uncertain (not known); no transaction open.

        A key that was used with other parameters is Uncertain: something stands under it that we did not ask for now.
        """

    def find(self, request: RefundRequest) -> Accepted | None:
        """The provider's own record of exactly this request under its key, or None where it has none."""
