"""The main story in both languages: the company, whom it knows, what is said and what is to be read."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from ledger.actions.quote_lines import LineDraft
from ledger.actions.quotes import create_quote
from ledger.models import Client
from tests.cast import Cast, aurora, john_smith, lone_ridge
from tests.offers import cedar_bend


@dataclass(frozen=True)
class Tale:
    """One telling. `asked` to `accepted` are whole texts; `labels` are the facts that the card has to tell."""

    language: str
    locale: str
    office: Callable[[], Cast]
    labels: dict[str, str]
    words: dict[str, str]
    wish: str
    asked: str
    answer: str
    ref: str
    client: str
    city: str
    address: str
    edited: str
    question: str
    button: str
    summary: str
    sent: str
    signer: str
    accepted: str
    wonder: str
    told: str


def two_smiths() -> Cast:
    """Lone Ridge Roofing with a roof for John Smith and gutters for Smith Property Group, both drafted."""
    cast = lone_ridge()
    with cast.scope():
        cedar_bend(cast)
        group = john_smith(cast, kind="company", name="Smith Property Group LLC", contact_name="Karen Smith",
                           email="ksmith@smithproperty.example", phone="+15125550177",
                           address={"line1": "900 Congress Ave Ste 410", "city": "Austin"})  # fmt: skip
        _quote(cast, group, "Gutter replacement, building B", "8.25", ("412", "9.80"))
    return cast


def two_joaos() -> Cast:
    """Telhados Aurora with a porch for João Batista Pereira and gutters for João Silva, both drafted."""
    cast = aurora()
    with cast.scope():
        pereira = john_smith(cast, name="João Batista Pereira", email="jb.pereira@example.com", phone="+5519991230102",
                             address={"line1": "Av. Brasil, 2200", "city": "Valinhos", "region": "SP"})  # fmt: skip
        silva = john_smith(cast, name="João Silva", email="joao.silva@example.com", phone="+5519991230101",
                           address={"line1": "Rua das Acácias, 120", "city": "Campinas", "region": "SP"})  # fmt: skip
        _quote(cast, pereira, "Cobertura da varanda", "5", ("42", "189.90"), ("3", "95.00"))
        _quote(cast, silva, "Troca de calhas e rufos", "5", ("34", "78.00"), ("18", "52.00"))
    return cast


def _quote(cast: Cast, client: Client, title: str, tax: str, *lines: tuple[str, str]) -> None:
    drafts = [
        LineDraft(quantity=Decimal(quantity), unit_price=Decimal(price), description=title, tax_rate=Decimal(tax))
        for quantity, price in lines
    ]
    create_quote(client, by=cast.owner, title=title, lines=drafts)


ENGLISH = Tale(
    language="en",
    locale="en-US",
    office=two_smiths,
    labels={
        "total": "Total", "to": "To", "client": "Client", "quote": "Quote", "title": "Title", "subtotal": "Subtotal",
        "discount": "Discount", "tax": "Tax", "deposit": "Deposit", "valid": "Valid until",
    },
    words={
        "edit": "Edit", "save": "Save and review again", "reject": "Reject…", "no": "Reject and tell Aval",
        "undo": "Undo: stop it", "again": "Ask again with current data", "close": "Close without deciding",
        "cancelled": "Dana stopped it before it ran.", "no_address": "That is not an e-mail address: mary",
        "no_reason": "Write a reason, so the next draft is right.", "accepted": "Accepted",
    },
    wish="send the Smith quote",
    asked="I found 2: Q-0001 John Smith (Full roof replacement, 28 squares, $10,157.64, draft) or "
    "Q-0002 Smith Property Group LLC (Gutter replacement, building B, $4,370.70, draft). Which one?",
    answer="the house on Cedar Bend",
    ref="Q-0001",
    client="John Smith",
    city="Austin",
    address="john.smith@example.com",
    edited="mary.smith@example.com",
    question="Send quote Q-0001 for $10,157.64 to John Smith?",
    button="Send quote for $10,157.64",
    summary="Send quote Q-0001, revision 1, “Full roof replacement, 28 squares”, for $10,157.64 to John Smith "
    "(mary.smith@example.com).",
    sent="Quote Q-0001 was sent to mary.smith@example.com (message M-0001).",
    signer="Mary Ann Smith",
    accepted="by Mary Ann Smith.",
    wonder="did Q-0001 get accepted?",
    told="Q-0001 John Smith (Full roof replacement, 28 squares, $10,157.64, accepted).",
)  # fmt: skip

PORTUGUESE = Tale(
    language="pt-br",
    locale="pt-BR",
    office=two_joaos,
    labels={
        "total": "Total", "to": "Para", "client": "Cliente", "quote": "Orçamento", "title": "Título",
        "subtotal": "Subtotal", "discount": "Desconto", "tax": "Imposto", "deposit": "Sinal", "valid": "Válido até",
    },
    words={
        "edit": "Editar", "save": "Salvar e rever", "reject": "Recusar…", "no": "Recusar e avisar o Aval",
        "undo": "Desfazer: parar", "again": "Pedir de novo com os dados atuais", "close": "Fechar sem decidir",
        "cancelled": "Bia interrompeu antes da execução.", "no_address": "Isso não é um endereço de e-mail: mary",
        "no_reason": "Escreva um motivo, para que o próximo rascunho saia certo.", "accepted": "Aceito",
    },
    wish="envia o orçamento do João",
    asked="Encontrei 2: ORC-0001 João Batista Pereira (Cobertura da varanda, R$ 8.260,80, rascunho) ou "
    "ORC-0002 João Silva (Troca de calhas e rufos, R$ 3.588,00, rascunho). Qual deles?",
    answer="o da casa na Av. Brasil",
    ref="ORC-0001",
    client="João Batista Pereira",
    city="Valinhos",
    address="jb.pereira@example.com",
    edited="obra.pereira@example.com",
    question="Enviar o orçamento ORC-0001, de R$ 8.260,80, para João Batista Pereira?",
    button="Enviar orçamento de R$ 8.260,80",
    summary="Enviar o orçamento ORC-0001, revisão 1, “Cobertura da varanda”, de R$ 8.260,80, para João Batista Pereira "
    "(obra.pereira@example.com).",
    sent="O orçamento ORC-0001 foi enviado a obra.pereira@example.com (mensagem M-0001).",
    signer="João Batista Pereira",
    accepted="por João Batista Pereira.",
    wonder="o ORC-0001 foi aceito?",
    told="ORC-0001 João Batista Pereira (Cobertura da varanda, R$ 8.260,80, aceito).",
)  # fmt: skip
