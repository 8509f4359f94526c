"""The e-mail itself: H32 (exactly these people), H33 (headers), T23 (names), and the frozen attachment."""

import hashlib
import uuid
from email import message_from_bytes, policy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.contacts import ContactError
from ledger.providers.mail import MailAttachment, MailMessage, compose, on_the_wire
from ledger.providers.outcomes import Refused

PDF = b"%PDF-1.7 not really"


def letter(**changes) -> MailMessage:
    fields = {
        "company_id": uuid.uuid4(),
        "key": "0193f0aa-0000-7000-8000-000000000001",
        "sender": "office@loneridge.example",
        "sender_name": "Lone Ridge Roofing LLC",
        "to": ("john.smith@example.com",),
        "subject": "Quote Q-1042",
        "text": "Hello John,\nyour quote is attached.\n",
    }
    return MailMessage(**(fields | changes))


def read(message: MailMessage):
    return message_from_bytes(on_the_wire(message), policy=policy.default)


def test_h32_each_mailbox_is_written_to_once_where_it_was_first_named():
    message = letter(
        to=("a@example.com", "b@example.com", "A@Example.com"),
        cc=("accounts@example.com", "b@EXAMPLE.com"),
        bcc=("copy@example.com", "ACCOUNTS@example.com"),
    )
    assert (message.to, message.cc, message.bcc) == (
        ("a@example.com", "b@example.com"),
        ("accounts@example.com",),
        ("copy@example.com",),
    )
    assert message.recipients == ("a@example.com", "b@example.com", "accounts@example.com", "copy@example.com")


def test_h32_the_blind_copy_is_in_no_header():
    read_back = read(letter(cc=("accounts@example.com",), bcc=("copy@example.com",)))
    assert read_back["To"] == "john.smith@example.com"
    assert read_back["Cc"] == "accounts@example.com"
    assert read_back["Bcc"] is None
    assert b"copy@example.com" not in on_the_wire(letter(bcc=("copy@example.com",)))


@pytest.mark.parametrize(
    "changes",
    [
        {"subject": "Quote for Smith\r\nBcc: other@example.com"},
        {"subject": "a\x00b"},
        {"sender_name": "Smith\nBcc: other@example.com"},
        {"subject": "a\u2028b"},
        {"attachments": (MailAttachment("a\r\nb.pdf", PDF, hashlib.sha256(PDF).hexdigest()),)},
    ],
)
def test_h33_a_line_break_in_a_header_fails_that_message(changes):
    with pytest.raises(Refused) as refused:
        compose(letter(**changes))
    assert refused.value.code == "MAIL_HEADER_UNSAFE"


def test_h33_a_cleaned_name_is_an_ordinary_subject():
    read_back = read(letter(subject="Quote for Smith Bcc: other@example.com"))
    assert read_back["Subject"] == "Quote for Smith Bcc: other@example.com"
    assert read_back["Bcc"] is None


@pytest.mark.parametrize(
    "address", ["a@example.com\r\nBcc: b@example.com", "a@example.com, b@example.com", "", "a b@c.example"]
)
@pytest.mark.parametrize("field", ["to", "cc", "bcc", "reply_to"])
def test_h33_an_address_is_one_address(field, address):
    with pytest.raises(ContactError):
        letter(**{field: (address,)})


def test_a_message_to_nobody_and_one_with_nul_are_refused():
    for changes, code in (({"to": ()}, "MAIL_NO_RECIPIENT"), ({"text": "a\x00b"}, "MAIL_TEXT_UNSAFE")):
        with pytest.raises(Refused) as refused:
            compose(letter(**changes))
        assert refused.value.code == code


def test_the_message_id_follows_the_key_and_not_the_moment():
    message = letter(key=uuid.UUID(int=7))
    assert message.message_id == f"<{uuid.UUID(int=7)}@loneridge.example>"
    assert read(message)["Message-ID"] == message.message_id


def test_an_attachment_is_the_file_that_was_frozen():
    attachment = MailAttachment("Q-1042.pdf", PDF, hashlib.sha256(PDF).hexdigest())
    [part] = read(letter(attachments=(attachment,))).iter_attachments()
    assert (part.get_filename(), part.get_content_type(), part.get_content()) == ("Q-1042.pdf", "application/pdf", PDF)
    with pytest.raises(ValueError, match="frozen"):
        MailAttachment("Q-1042.pdf", PDF + b" ", hashlib.sha256(PDF).hexdigest())


def test_names_and_texts_keep_their_accents():
    message = letter(sender_name='João "Zé" D’Ávila', subject="Orçamento nº 7", text="Olá, João!\n", html="<p>Olá</p>")
    read_back = read(message)
    assert str(read_back["Subject"]) == "Orçamento nº 7"
    [sender] = read_back["From"].addresses
    assert (sender.display_name, sender.addr_spec) == ('João "Zé" D’Ávila', "office@loneridge.example")
    assert read_back.get_body(("plain",)).get_content() == "Olá, João!\r\n"
    assert read_back.get_body(("html",)).get_content().strip() == "<p>Olá</p>"


PRINTABLE = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=80)


@given(subject=PRINTABLE, name=PRINTABLE, text=st.text(max_size=200))
def test_whatever_is_written_adds_no_header_and_no_recipient(subject, name, text):
    message = letter(subject=subject, sender_name=name, text=text.replace("\x00", ""))
    try:
        wire = on_the_wire(message)
    except Refused as refused:
        assert refused.code in {"MAIL_HEADER_UNSAFE", "MAIL_TEXT_UNSAFE"}
        return
    headers = message_from_bytes(wire).keys()
    assert sorted(headers) == sorted(
        ["Content-Type", "MIME-Version", "Content-Transfer-Encoding", "Subject", "From", "To", "Date", "Message-ID"]
    )
    assert wire.count(b"\r") == wire.count(b"\n") == wire.count(b"\r\n")
