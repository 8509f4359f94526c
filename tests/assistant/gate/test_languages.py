"""What a worker says is in the language of the person who will read it, not in the worker's own."""

from dataclasses import replace

from django.utils.translation import gettext as _

from assistant.models import Status
from assistant.tools.registry import Refused
from ledger.models import Membership
from tests.support.provider import FileProvider


def proposed(office, monkeypatch):
    """A letter asked for, and confirmed, in Portuguese."""
    english = office.context(office.alex)
    monkeypatch.setattr(type(office), "context", lambda self, member=None: replace(english, language="pt-br"))
    action = office.propose("post_letter", text="Oi")
    office.confirm(action, by=office.alex)
    return action


def test_a_refusal_before_the_deed(office, provider, monkeypatch):
    action = proposed(office, monkeypatch)
    with office.scope():
        Membership.objects.filter(pk=office.alex.pk).update(active=False)
    done = office.execute(action)
    assert (done.status, done.failure["code"]) == (Status.FAILED, "FORBIDDEN")
    assert done.failure["sentence"] == "Quem pediu não tem mais permissão para isto."


def test_a_providers_refusal(office, provider, monkeypatch):
    action = proposed(office, monkeypatch)

    def refuse(self, key, what):
        raise Refused("PDF_FAILED", _("Its PDF could not be made."))

    monkeypatch.setattr(FileProvider, "send", refuse)
    done = office.execute(action)
    assert done.failure == {"code": "PDF_FAILED", "sentence": "Não foi possível gerar o PDF."}
