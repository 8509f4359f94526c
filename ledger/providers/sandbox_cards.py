"""A provider of payments of our own making: no money moves; it keeps what it is asked and fails as told to."""

from django.utils.translation import gettext as _

from ledger import tenancy
from ledger.models import SandboxDelivery
from ledger.providers import sandbox
from ledger.providers.cards import RefundRequest
from ledger.providers.outcomes import Accepted, Refused, Uncertain, require_no_transaction
from ledger.providers.sandbox import Mode


class SandboxCards:
    """Accepts, refuses or falls silent by the company's knob; each call is committed at once, as on a remote host.

    `port` names its records and its knob: "cards", or "pix" for refunds of Pix.
    """

    def __init__(self, port: str = "cards") -> None:
        self.port = port
        self.name = f"sandbox-{port}"

    def refund(self, request: RefundRequest) -> Accepted:
        """As the port. The same key with the same request answers as the first time and moves nothing more."""
        require_no_transaction()
        with tenancy.tenant(request.company_id):
            behaviour = sandbox.next_behaviour(self.port)
            refuse = behaviour.mode in (Mode.REFUSE, Mode.RATE_LIMIT)
            kept = None
            if behaviour.mode != Mode.TIMEOUT_BEFORE:
                kept = sandbox.take(self.port, request.key, _payload(request), "", refuse=refuse)
        behaviour.wait()
        return _answer(behaviour.mode, kept)

    def find(self, request: RefundRequest) -> Accepted | None:
        """The sandbox's own record of the key, if it accepted exactly this request."""
        with tenancy.tenant(request.company_id):
            kept = sandbox.kept(self.port, request.key)
        if kept is None or kept.status == sandbox.Status.REFUSED or kept.payload != _payload(request):
            return None
        return _accepted(kept)


def _answer(mode: Mode, kept: SandboxDelivery | None) -> Accepted:
    match mode:
        case Mode.REFUSE:
            raise Refused("REFUND_REFUSED", _("The provider refused the refund; no money has moved."))
        case Mode.RATE_LIMIT:
            raise Refused("REFUND_RATE_LIMITED", _("Too many requests for now; no money has moved."))
        case Mode.TIMEOUT_BEFORE | Mode.TIMEOUT_AFTER_ACCEPT:
            raise Uncertain("REFUND_NO_ANSWER", _("The provider did not answer; the refund may have been made."))
        case Mode.GARBAGE:
            sentence = _("The provider's answer cannot be read; the refund may have been made.")
            raise Uncertain("REFUND_BAD_ANSWER", sentence)
    if kept is None:
        raise Uncertain("REFUND_KEY_REUSED", _("The provider has another refund under this key; somebody has to look."))
    return _accepted(kept)


def _accepted(kept: SandboxDelivery) -> Accepted:
    return Accepted(f"re-{kept.pk}", kept.status)


def _payload(request: RefundRequest) -> dict[str, object]:
    return {"payment": request.payment_id, "amount": request.amount_cents, "currency": request.currency}
