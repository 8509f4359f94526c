"""What people write, and what it asks for; amounts, refs, names and clauses in it."""

from __future__ import annotations

import pytest

from assistant.agent.rehearsal.intents import Intent, intent_of
from assistant.agent.rehearsal.ordering import Item, read_order
from assistant.agent.rehearsal.subjects import split_clause, subjects
from assistant.agent.rehearsal.words import amounts_in, decimal_text, language_of, phone_in, refs_in

SAYINGS: dict[Intent | None, list[str]] = {
    Intent.GREETING: ["hi", "Hello!", "good afternoon", "hey there", "Oi", "olá, tudo bem?", "Bom dia!", "e aí"],
    Intent.THANKS: ["thanks", "ok, thank you!", "obrigada", "valeu demais"],
    Intent.CAPABILITIES: ["help", "what can you do?", "ajuda", "o que você consegue fazer?", "como funciona?"],
    Intent.DECIDE: ["yes", "ok", "Confirm it.", "go ahead please", "sim", "siiim", "pode", "confirmo", "claro"],
    Intent.NEVER_MIND: ["never mind", "forget it", "deixa pra lá", "esquece"],
    Intent.OUTCOME: ["did it go out?", "has it been sent?", "is it done?", "já foi?", "o orçamento foi enviado?"],
    Intent.AGAIN: ["again", "try again please", "redo", "refaz", "de novo", "manda ele de novo"],
    Intent.AMEND: ["yes but make it 350", "make it $420", "muda pra 350", "use karen@example.com instead"],
    Intent.OVERDUE: [
        "who owes me money?",
        "overdue invoices",
        "who hasn't paid?",
        "quem tá devendo?",
        "faturas atrasadas",
    ],
    Intent.REFUND: ["refund 100 of PAY-0310", "give her money back", "estorna 50 do PAY-0201", "devolve 100 pra Ana"],
    Intent.RECORD_PAYMENT: [
        "Gonzalez paid 500 by check",
        "record a check over 300 from Olson",
        "recebi 300 do João",
        "a Mariana pagou 760",
    ],
    Intent.PRICE: ["how much is ridge vent?", "price of shingles", "quanto custa a calha?", "qual o preço da telha?"],
    Intent.CREATE_LEAD: ["new lead: Ann Lee, 512-555-0100", "add a lead for Bob Ray", "novo lead: Ana, 19 99123-0100"],
    Intent.LIST_LEADS: ["list leads", "any new leads?", "summarise new leads", "quais leads temos?", "leads novos"],
    Intent.MOVE_LEAD: ["move Hannah Kim to contacted", "mark Olson as lost", "marca a Ana como perdida"],
    Intent.CONVERT_LEAD: ["convert Sarah Whitman to a client", "transforma a Ana em cliente"],
    Intent.DELETE_LEAD: ["delete the lead Bob Ray", "apaga o lead da Ana"],
    Intent.CREATE_CLIENT: ["add a client: Bob Ray", "cadastra o cliente Pedro Alves"],
    Intent.DELETE_CLIENT: ["delete the client Bob Ray", "exclui o cliente Pedro"],
    Intent.ARCHIVE_CLIENT: ["archive Robert Chen", "arquiva o Pedro Alves"],
    Intent.UPDATE_CONTACT: ["change John's phone to 512-555-0100", "atualiza o telefone da Ana para 19 99123-0100"],
    Intent.LIST_CLIENTS: ["list clients", "show me all customers", "quais são os clientes?"],
    Intent.EDIT_LINES: ["add 2 vents to Q-1042", "remove the flashing from Q-1042", "tira o rufo do ORC-0311"],
    Intent.DELETE_QUOTE: ["delete Q-1042", "apaga o orçamento ORC-0311"],
    Intent.PREVIEW_QUOTE: ["preview Q-1042", "show me the pdf of Q-1042", "mostra a prévia do ORC-0311"],
    Intent.SEND_INVOICE: ["send the Patel invoice", "manda a fatura da Mariana"],
    Intent.CREATE_INVOICE: ["create an invoice from Q-1035", "invoice Q-1035", "cria uma fatura do ORC-0310"],
    Intent.NOTE: ["note on John: mornings", "add a note to Q-1042 that she called", "anota no João: de manhã"],
    Intent.DRAFT: ["draft an email to Patel about Friday", "rascunha uma mensagem para a Ana"],
    Intent.CREATE_QUOTE: [
        "quote for Novak: 3 sq of shingles",
        "make a quote for Patel",
        "draft a quote for Patel",
        "faz um orçamento pra Ana",
    ],
    Intent.SEND_QUOTE: [
        "send the Smith quote",
        "email Q-1042 to John",
        "envia o orçamento do Silva",
        "manda o ORC-0310",
    ],
    Intent.SEND_IT: ["send it", "send both", "now send it by email", "manda ele", "manda por e-mail", "envia os dois"],
    Intent.EMAIL: ["email John that we are late", "tell Ana we come at 9", "avisa a Ana que vamos amanhã"],
    Intent.LIST_QUOTES: ["list quotes", "which quotes are open?", "quais orçamentos estão abertos?"],
    Intent.TOTAL: ["wait, what is the total?", "qual é o total?"],
    Intent.GET_QUOTE: ["Q-1042 please"],
    Intent.SHOW: ["find Novak", "show me Emily Carter", "procura o Pereira"],
    None: ["Q-1042", "the house on Cedar Bend", "John", "o primeiro", "what is the weather like", "", "  ", "…", "42"],
}


@pytest.mark.parametrize(("intent", "text"), [(intent, text) for intent, texts in SAYINGS.items() for text in texts])
def test_a_saying_asks_for_its_intent(intent: Intent | None, text: str) -> None:
    assert intent_of(text) is intent


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Send Smith's quote", ["Smith"]),
        ("send the quote to John Smith for the house on Cedar Bend", ["John Smith", "Cedar Bend"]),
        ("Emily Carter's gutter leaks. Refund her $500.", ["Emily Carter", "gutter leaks"]),
        ("manda o orçamento do Condomínio Jardim das Flores", ["Condomínio Jardim das Flores"]),
        ("envia a proposta do joão pereira por e-mail", ["joão pereira"]),
        ("send it to karen@example.com", []),
        ("refund 100 of PAY-0310", []),
        ("", []),
    ],
)
def test_names_are_what_is_left_of_a_command(text: str, names: list[str]) -> None:
    assert subjects(text) == names


@pytest.mark.parametrize(
    ("text", "refs"),
    [
        ("Q-1042 and q-1047", ["Q-1042", "Q-1047"]),
        ("quote 1042, Q1047", ["Q-1042", "Q-1047"]),
        ("orçamento 312 e fatura nº 119", ["ORC-0312", "FAT-0119"]),
        ("e-mail 512-555-0133", []),
    ],
)
def test_refs_are_found_however_they_are_written(text: str, refs: list[str]) -> None:
    assert refs_in(text) == refs


@pytest.mark.parametrize(
    ("text", "language", "amounts"),
    [
        ("paid $1,234.50 by check", "en", ["1234.50"]),
        ("pagou R$ 1.234,50", "pt", ["1234.50"]),
        ("pagou 150,5 reais", "pt", ["150.50"]),
        ("refund 100 of PAY-0310", "en", ["100.00"]),
        ("call 512-555-0133 about 5%", "en", []),
        ("make it 350", "en", ["350.00"]),
    ],
)
def test_amounts_are_read_in_the_persons_language(text: str, language: str, amounts: list[str]) -> None:
    assert amounts_in(text, language) == amounts


@pytest.mark.parametrize(
    ("number", "language", "places", "text"),
    [
        ("1,000", "en", 2, "1000.00"),
        ("1.000", "pt", 2, "1000.00"),
        ("1.5", "pt", 3, "1.5"),
        ("120,5", "pt", 3, "120.5"),
        ("3", "en", 3, "3"),
        ("1.2.3", "en", 2, ""),
    ],
)
def test_numbers_become_decimal_text(number: str, language: str, places: int, text: str) -> None:
    assert decimal_text(number, language, places) == text


def test_an_order_is_taken_apart() -> None:
    order = read_order(
        "quote for Ann Lee: 12 squares of shingles, a flashing kit at $300 and 2.5 hours of labor, 5% off", "en"
    )
    assert order.head.strip() == "quote for Ann Lee"
    assert order.items == (Item("shingles", "12"), Item("flashing kit", "1", "300.00"), Item("labor", "2.5"))
    assert (order.discount, order.then_send) == ("5", False)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("email John that we come", ("email John", "we come")),
        ("avisa a Ana que vamos", ("avisa a Ana", "vamos")),
        ("note on Q-1042: call first", ("note on Q-1042", "call first")),
        ("email John", ("email John", "")),
    ],
)
def test_a_command_is_parted_from_what_is_to_be_said(text: str, parts: tuple[str, str]) -> None:
    assert split_clause(text) == parts


def test_languages_are_told_apart_by_their_own_words() -> None:
    english, portuguese = language_of("send the quote to João please")
    assert english > portuguese
    english, portuguese = language_of("manda o orçamento do Smith")
    assert portuguese > english


def test_a_phone_is_no_ref_and_no_amount() -> None:
    assert phone_in("Ann Lee, (512) 555-0133, roof") == "(512) 555-0133"
    assert phone_in("Q-1042 for $500") == ""
