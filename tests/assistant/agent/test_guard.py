"""Which sentences claim a deed (R10, T46): the words alone; what the record has is tested with whole turns."""

import pytest

from assistant.agent import guard


@pytest.mark.parametrize(
    "text",
    [
        "It's sent.",
        "Done! It went out just now.",
        "The e-mail is on its way to John.",
        "All set, the quote has been delivered.",
        "I just sent it, you can check your outbox.",
        "I’ve now e-mailed it before noon.",
        "Okay: I have already refunded the 350.",
        "I have now dispatched the quote.",
        "Pronto, enviei o orçamento.",
        "Pronto! Já mandei.",
        "Feito, o orçamento foi enviado ao cliente.",
        "O e-mail já saiu.",
        "Acabei de mandar o orçamento, pode conferir.",
        "Eu já reembolsei o valor.",
        "Orçamento enviado com sucesso.",
    ],
)
def test_T46_a_claim_is_heard_in_both_languages(text: str) -> None:
    assert list(guard.claims(text)) != []


@pytest.mark.parametrize(
    "text",
    [
        "It was not sent.",
        "I sent nothing; the letter was rejected.",
        "I have not sent it.",
        "You rejected it, so nothing went out.",
        "I can send it again when you want.",
        "I sent it to a card for you to confirm.",
        "I will send it once you confirm, and it is on its way then.",
        "Understood, I will not send it.",
        "Say when it should be sent.",
        "Did it go out?",
        "Pronto, nada foi enviado.",
        "Pronto, não enviei.",
        "O envio foi recusado; nada saiu.",
        "Mandei para um cartão; confirme por lá.",
        "Acabei de enviar um pedido de confirmação.",
        "Enviar a carta fica para depois.",
        "Mandar de novo é possível.",
        "Sem problema, não mandei.",
        "Quer que eu mande de novo?",
    ],
)
def test_T46_words_that_claim_nothing_are_left_alone(text: str) -> None:
    assert list(guard.claims(text)) == []
