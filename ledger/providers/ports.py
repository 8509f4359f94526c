"""Which adapter stands behind each port: the real one where the installation has it, else the sandbox."""

from django.conf import settings

from ledger.models import Payment
from ledger.providers.cards import CardPort
from ledger.providers.mail import MailPort
from ledger.providers.sandbox_cards import SandboxCards
from ledger.providers.sandbox_mail import SandboxMail
from ledger.providers.smtp import SmtpMail


def mail_port(*, sandbox: bool = False) -> MailPort:
    """SMTP where EMAIL_URL is set; the sandbox without it, and for a company that is held to it (`sandbox`)."""
    return SmtpMail() if settings.EMAIL_URL and not sandbox else SandboxMail()


def refund_port(provider: str) -> CardPort:
    """The port that a payment came through and goes back by: the sandbox of cards or of Pix.

    Raises ValueError for money that came through no provider.
    """
    return SandboxCards(Payment.Provider(provider).value)
