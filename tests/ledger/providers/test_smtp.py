"""SMTP against a real server in this process: what is refused, what is accepted, and what stays in doubt (R11)."""

import asyncio
import hashlib
import uuid
from email import message_from_bytes, policy

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP

from ledger import tenancy
from ledger.providers.mail import MailAttachment, MailMessage
from ledger.providers.outcomes import Refused, Uncertain
from ledger.providers.ports import mail_port
from ledger.providers.smtp import SmtpMail

PDF = b"%PDF-1.7\r\n.\r\nlines with lone dots\r\n"


class Post:
    """A mail server's manners: what it answers at each step, and what it kept."""

    def __init__(self) -> None:
        self.kept: list[tuple[list[str], bytes]] = []
        self.envelopes = 0
        self.refuses: dict[str, str] = {}
        self.after_text = "250 queued as A1"

    async def handle_MAIL(self, server, session, envelope, address, options):
        self.envelopes += 1
        if "sender" in self.refuses:
            return self.refuses["sender"]
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address in self.refuses:
            return self.refuses[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if self.after_text == "hang up":
            server.transport.abort()
            await asyncio.sleep(60)
        if self.after_text == "silence":
            await asyncio.sleep(60)
        if self.after_text.startswith("2"):
            self.kept.append((list(envelope.rcpt_tos), envelope.original_content))
        return self.after_text


class Server(SMTP):
    """Can refuse the DATA command itself, or hang up at it: before any text has left."""

    async def smtp_DATA(self, arg):
        answer = self.event_handler.refuses.get("data")
        if answer == "hang up":
            self.transport.abort()
        elif answer:
            await self.push(answer)
        else:
            await super().smtp_DATA(arg)


class House(Controller):
    def factory(self):
        return Server(self.handler, data_size_limit=None)


@pytest.fixture
def post(settings, unused_tcp_port):
    handler = Post()
    controller = House(handler, hostname="127.0.0.1", port=unused_tcp_port)
    controller.start()
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_TIMEOUT = "127.0.0.1", unused_tcp_port, 1
    settings.EMAIL_URL = f"smtp://127.0.0.1:{unused_tcp_port}"
    yield handler
    controller.stop()


def letter(**changes) -> MailMessage:
    fields = {
        "company_id": uuid.uuid4(),
        "key": uuid.uuid4(),
        "sender": "office@loneridge.example",
        "to": ("john.smith@example.com",),
        "subject": "Quote Q-1042",
        "text": "Hello\n.\n..\n.Bcc: no\r.\rend\n",
        "attachments": (MailAttachment("Q-1042.pdf", PDF, hashlib.sha256(PDF).hexdigest()),),
    }
    return MailMessage(**(fields | changes))


def test_what_is_accepted_is_the_whole_message_to_exactly_these_people(post):
    message = letter(cc=("accounts@example.com",), bcc=("copy@example.com",))
    accepted = mail_port().send(message)
    [(recipients, content)] = post.kept
    assert (accepted.provider_id, accepted.detail) == (message.message_id, "queued as A1")
    assert recipients == ["john.smith@example.com", "accounts@example.com", "copy@example.com"]
    received = message_from_bytes(content, policy=policy.default)
    assert received["Message-ID"] == message.message_id
    assert received["Bcc"] is None
    assert received.get_body(("plain",)).get_content().splitlines() == ["Hello", ".", "..", ".Bcc: no", ".", "end"]
    [attached] = received.iter_attachments()
    assert attached.get_content() == PDF


@pytest.mark.parametrize(
    ("refuses", "code"),
    [
        ({"sender": "550 no such sender"}, "MAIL_SENDER_REFUSED"),
        ({"john.smith@example.com": "550 no such user"}, "MAIL_RECIPIENT_REFUSED"),
        ({"copy@example.com": "450 try again later"}, "MAIL_RECIPIENT_REFUSED"),
        ({"data": "452 disk full"}, "MAIL_REFUSED"),
        ({"data": "hang up"}, "MAIL_UNREACHABLE"),
        ({"copy@example.com": "421 closing"}, "MAIL_RECIPIENT_REFUSED"),
    ],
)
def test_a_refusal_before_the_text_is_certain_and_nobody_gets_anything(post, refuses, code):
    post.refuses = refuses
    with pytest.raises(Refused) as refused:
        SmtpMail().send(letter(bcc=("copy@example.com",)))
    assert refused.value.code == code
    assert post.kept == []
    assert post.envelopes == 1


def test_a_refusal_after_the_text_is_certain_too(post):
    post.after_text = "554 looks like spam"
    with pytest.raises(Refused) as refused:
        SmtpMail().send(letter())
    assert refused.value.code == "MAIL_REFUSED"
    assert "554 looks like spam" in refused.value.sentence


@pytest.mark.parametrize("manners", ["silence", "hang up"])
def test_silence_after_the_text_is_doubt_and_one_request(post, manners):
    post.after_text = manners
    message = letter()
    with pytest.raises(Uncertain) as uncertain:
        SmtpMail().send(message)
    assert uncertain.value.code == "MAIL_NO_ANSWER"
    assert post.envelopes == 1
    assert SmtpMail().find(message.key, company_id=message.company_id) is None


def test_a_server_that_is_not_there_has_sent_nothing(settings, unused_tcp_port):
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", unused_tcp_port
    with pytest.raises(Refused) as refused:
        SmtpMail().send(letter())
    assert refused.value.code == "MAIL_UNREACHABLE"


def test_h33_a_bad_message_fails_alone_and_the_next_goes_out_once(post):
    with pytest.raises(Refused):
        SmtpMail().send(letter(subject="a\nBcc: other@example.com"))
    SmtpMail().send(letter())
    assert (len(post.kept), post.envelopes) == (1, 1)


def test_mail_is_not_sent_inside_a_transaction(post, lone_ridge):
    with tenancy.tenant(lone_ridge.company.pk), pytest.raises(RuntimeError, match="transaction"):
        SmtpMail().send(letter())
    assert post.envelopes == 0
