"""The rest of the office by chat: leads, clients, quotes, invoices, payments, messages, in both languages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.assistant.agent.rehearsal.office import ROOFING, TELHADOS, talking

Call = tuple[str, dict[str, Any]]

ENGLISH: list[tuple[str, list[Call]]] = [
    ("list leads", [("list_leads", {})]),
    ("show me the new leads", [("list_leads", {"stage": "new"})]),
    ("list my clients", [("list_clients", {})]),
    ("list draft quotes", [("list_quotes", {"status": "draft"})]),
    ("who owes me money?", [("list_overdue_invoices", {})]),
    ("what is waiting for my approval?", [("list_pending_actions", {})]),
    ("show Q-1042", [("get_quote", {"quote_ref": "Q-1042"})]),
    ("how much is ridge vent?", [("search_price_book", {"query": "ridge vent"})]),
    (
        "new lead: Maria Lopez, 512-555-0133, roof leak",
        [("create_lead", {"name": "Maria Lopez", "phone": "512-555-0133", "notes": "roof leak"})],
    ),
    (
        "add a client: Bob Jones, bob@example.com",
        [("create_client", {"name": "Bob Jones", "kind": "person", "email": "bob@example.com"})],
    ),
    (
        "quote for Emily Carter: 3 bundles of shingles and 2 hours of labor",
        [
            ("search_records", {"query": "Emily Carter"}),
            ("search_price_book", {"query": "shingle"}),
            ("search_price_book", {"query": "labor"}),
            (
                "create_quote",
                {
                    "party_ref": "C-0107",
                    "title": "Quote: shingles, labor",
                    "lines": [{"price_item_ref": "PI-01", "qty": "3"}, {"price_item_ref": "PI-02", "qty": "2"}],
                },
            ),
        ],
    ),
    (
        "create a quote for Emily Carter with 10 ft of ridge vent at $7.50, 5% off, and send it",
        [
            ("search_records", {"query": "Emily Carter"}),
            ("search_price_book", {"query": "ridge vent"}),
            (
                "create_quote",
                {
                    "party_ref": "C-0107",
                    "title": "Quote: ridge vent",
                    "lines": [{"price_item_ref": "PI-05", "qty": "10", "unit_price": "7.50"}],
                    "discount_pct": "5",
                },
            ),
            ("send_quote", {"quote_ref": "Q-1048", "channel": "email"}),
        ],
    ),
    (
        "add 2 ridge vents to Q-1042",
        [
            ("get_quote", {"quote_ref": "Q-1042"}),
            ("search_price_book", {"query": "ridge vent"}),
            (
                "edit_quote_lines",
                {
                    "quote_ref": "Q-1042",
                    "expected_version": 3,
                    "operations": [{"op": "add", "value": {"price_item_ref": "PI-05", "qty": "2"}}],
                },
            ),
        ],
    ),
    (
        "remove the flashing from Q-1042",
        [
            ("get_quote", {"quote_ref": "Q-1042"}),
            (
                "edit_quote_lines",
                {"quote_ref": "Q-1042", "expected_version": 3, "operations": [{"op": "remove", "line": 4}]},
            ),
        ],
    ),
    (
        "change the price of the shingles on Q-1042 to $150",
        [
            ("get_quote", {"quote_ref": "Q-1042"}),
            (
                "edit_quote_lines",
                {
                    "quote_ref": "Q-1042",
                    "expected_version": 3,
                    "operations": [{"op": "update", "line": 1, "value": {"qty": "28", "unit_price": "150.00"}}],
                },
            ),
        ],
    ),
    ("preview Q-1042", [("preview_quote_pdf", {"quote_ref": "Q-1042"})]),
    ("delete Q-1042", [("delete_quote", {"quote_ref": "Q-1042", "subject_hint": "Q-1042"})]),
    (
        "email John Smith that we come on Friday",
        [
            ("search_records", {"query": "John Smith"}),
            (
                "send_email",
                {
                    "party_ref": "C-0101",
                    "subject": "We come on Friday",
                    "body": "Hello John,\n\nWe come on Friday.\n\nKind regards",
                },
            ),
        ],
    ),
    (
        "note on Q-1042: prefers mornings",
        [("add_note", {"record_ref": "Q-1042", "body": "prefers mornings"})],
    ),
    (
        "Gonzalez paid 500 by check, number 1187",
        [
            ("search_records", {"query": "Gonzalez"}),
            (
                "record_payment",
                {
                    "client_ref": "C-0103",
                    "amount": "500.00",
                    "method": "check",
                    "received_on": "2026-11-30",
                    "reference": "1187",
                },
            ),
        ],
    ),
    (
        "refund 100 of PAY-0310",
        [
            (
                "refund_payment",
                {
                    "payment_ref": "PAY-0310",
                    "amount": "100.00",
                    "reason": "other",
                    "note": "refund 100 of PAY-0310",
                },
            )
        ],
    ),
    (
        "Emily Carter's gutter leaks. Refund her $500 on the card.",
        [
            ("search_records", {"query": "Emily Carter"}),
            ("list_payments", {"client_ref": "C-0107"}),
            (
                "refund_payment",
                {
                    "payment_ref": "PAY-0310",
                    "amount": "500.00",
                    "reason": "service_issue",
                    "note": "Emily Carter's gutter leaks. Refund her $500 on the card.",
                },
            ),
        ],
    ),
    (
        "create an invoice from Q-1035",
        [
            ("get_quote", {"quote_ref": "Q-1035"}),
            ("create_invoice", {"client_ref": "C-0104", "quote_ref": "Q-1035"}),
        ],
    ),
    ("send INV-0229", [("send_invoice", {"invoice_ref": "INV-0229", "channel": "email"})]),
    (
        "move Hannah Kim to contacted",
        [
            ("search_records", {"query": "Hannah Kim"}),
            ("move_lead_stage", {"lead_ref": "L-0034", "stage": "contacted"}),
        ],
    ),
    (
        "convert Sarah Whitman to a client",
        [
            ("search_records", {"query": "Sarah Whitman"}),
            ("convert_lead_to_client", {"lead_ref": "L-0037", "subject_hint": "Sarah Whitman"}),
        ],
    ),
    (
        "change Emily Carter's phone to 512-555-0199",
        [
            ("search_records", {"query": "Emily Carter"}),
            ("get_client", {"client_ref": "C-0107"}),
            (
                "update_client",
                {"client_ref": "C-0107", "expected_version": 7, "patch": {"phone": "512-555-0199"}},
            ),
        ],
    ),
    (
        "change Emily Carter's address to 9 Elm St, Austin, TX",
        [
            ("search_records", {"query": "Emily Carter"}),
            ("get_client", {"client_ref": "C-0107"}),
            (
                "update_client",
                {
                    "client_ref": "C-0107",
                    "expected_version": 7,
                    "patch": {"billing_address": {"line1": "9 Elm St", "city": "Austin", "region": "TX"}},
                },
            ),
        ],
    ),
    (
        "delete the client Emily Carter",
        [
            ("search_records", {"query": "Emily Carter"}),
            ("delete_client", {"client_ref": "C-0107", "subject_hint": "Emily Carter"}),
        ],
    ),
]
PORTUGUESE: list[tuple[str, list[Call]]] = [
    ("lista os leads novos", [("list_leads", {"stage": "new"})]),
    ("quais são os meus clientes?", [("list_clients", {})]),
    ("mostra os orçamentos em rascunho", [("list_quotes", {"status": "draft"})]),
    ("quem está me devendo?", [("list_overdue_invoices", {})]),
    ("o que está pendente?", [("list_pending_actions", {})]),
    ("mostra o ORC-0310", [("get_quote", {"quote_ref": "ORC-0310"})]),
    ("quanto custa a calha?", [("search_price_book", {"query": "calha"})]),
    (
        "novo lead: Maria Lopes, 19 99123-0144, goteira na sala",
        [("create_lead", {"name": "Maria Lopes", "phone": "19 99123-0144", "notes": "goteira na sala"})],
    ),
    (
        "cadastra o cliente Pedro Alves, pedro@example.com",
        [("create_client", {"name": "Pedro Alves", "kind": "person", "email": "pedro@example.com"})],
    ),
    (
        "faz um orçamento pro João Pereira: 120,5 m² de telha termoacústica, mais a mão de obra, 5% de desconto",
        [
            ("search_records", {"query": "João Pereira"}),
            ("search_price_book", {"query": "telha termoacústica"}),
            ("search_price_book", {"query": "mão de obra"}),
            (
                "create_quote",
                {
                    "party_ref": "C-0102",
                    "title": "Orçamento: telha termoacústica, mão de obra",
                    "lines": [{"price_item_ref": "PI-01", "qty": "120.5"}, {"price_item_ref": "PI-02", "qty": "1"}],
                    "discount_pct": "5",
                },
            ),
        ],
    ),
    (
        "avisa a Mariana que vamos na sexta",
        [
            ("search_records", {"query": "Mariana"}),
            (
                "send_email",
                {
                    "party_ref": "C-0103",
                    "subject": "Vamos na sexta",
                    "body": "Olá, Mariana,\n\nVamos na sexta.\n\nAtenciosamente",
                },
            ),
        ],
    ),
    (
        "anota no João Silva: prefere de manhã",
        [
            ("search_records", {"query": "João Silva"}),
            ("add_note", {"record_ref": "C-0101", "body": "prefere de manhã"}),
        ],
    ),
    (
        "a Mariana pagou R$ 1.760,50 no pix ontem",
        [
            ("search_records", {"query": "Mariana"}),
            (
                "record_payment",
                {"client_ref": "C-0103", "amount": "1760.50", "method": "transfer", "received_on": "2026-11-29"},
            ),
        ],
    ),
    (
        "devolve 100 reais do PAY-0201",
        [
            (
                "refund_payment",
                {
                    "payment_ref": "PAY-0201",
                    "amount": "100.00",
                    "reason": "other",
                    "note": "devolve 100 reais do PAY-0201",
                },
            )
        ],
    ),
    (
        "manda o orçamento do condomínio jardim das flores por whatsapp",
        [
            ("search_records", {"query": "condomínio jardim"}),
            ("send_quote", {"quote_ref": "ORC-0311", "channel": "whatsapp"}),
        ],
    ),
    (
        "marca a Patrícia Nunes como perdida, achou caro",
        [
            ("search_records", {"query": "Patrícia Nunes"}),
            ("move_lead_stage", {"lead_ref": "L-0011", "stage": "lost", "lost_reason": "price"}),
        ],
    ),
]


@pytest.mark.parametrize(("words", "calls"), ENGLISH, ids=[words[:40] for words, _ in ENGLISH])
async def test_english_requests_lead_to_their_calls(words: str, calls: list[Call]) -> None:
    async with talking(ROOFING) as talk:
        said = await talk.say(words)
        assert talk.called == calls
        assert said


@pytest.mark.parametrize(("words", "calls"), PORTUGUESE, ids=[words[:40] for words, _ in PORTUGUESE])
async def test_pedidos_em_portugues_levam_as_suas_chamadas(words: str, calls: list[Call]) -> None:
    async with talking(TELHADOS) as talk:
        said = await talk.say(words)
        assert talk.called == calls
        assert said


async def test_the_overdue_list_names_each_invoice_and_the_total() -> None:
    async with talking(ROOFING) as talk:
        said = await talk.say("who owes me money?")
        for part in ("INV-0229", "Maria Gonzalez", "$4,180.25", "INV-0237", "$4,575.25", "47 days late"):
            assert part in said


async def test_a_missing_text_is_asked_for_and_then_goes_on_a_card() -> None:
    async with talking(ROOFING) as talk:
        assert (await talk.say("email Patel")).endswith("?")
        await talk.say("we are an hour late")
        assert talk.called == [
            (
                "send_email",
                {
                    "party_ref": "C-0104",
                    "subject": "We are an hour late",
                    "body": "Hello Patel Family Dental,\n\nWe are an hour late.\n\nKind regards",
                },
            )
        ]


async def test_a_draft_is_shown_and_can_then_be_sent() -> None:
    async with talking(ROOFING) as talk:
        said = await talk.say("draft an email to Patel about the flashing")
        assert "I am writing about the flashing." in said
        draft = talk.called[-1][1]
        await talk.say("email it")
        assert talk.called == [
            (
                "send_email",
                {"party_ref": "C-0104", "subject": "The flashing", "body": draft["body"]},
            )
        ]


async def test_a_refund_is_changed_by_words_into_a_new_card() -> None:
    async with talking(ROOFING) as talk:
        await talk.say("refund 500 of PAY-0310")
        said = await talk.say("yes but make it 350")
        assert [call[1]["amount"] for call in talk.called] == ["350.00"]
        assert "refunded" not in said


async def test_a_lost_lead_needs_a_reason() -> None:
    async with talking(ROOFING) as talk:
        assert (await talk.say("mark Hannah Kim as lost")).endswith("?")
        await talk.say("they found a competitor")
        assert talk.called[-1] == (
            "move_lead_stage",
            {"lead_ref": "L-0034", "stage": "lost", "lost_reason": "competitor"},
        )


async def test_a_lead_that_may_be_there_already_is_asked_about() -> None:
    async with talking(ROOFING) as talk:
        assert "L-0034" in await talk.say("new lead: Hannah Kim, 512-555-0137")
        await talk.say("no, create it anyway")
        assert talk.called == [
            ("create_lead", {"name": "Hannah Kim", "phone": "512-555-0137", "on_duplicate": "create"})
        ]


async def test_a_price_that_is_not_in_the_book_is_asked_for() -> None:
    async with talking(ROOFING) as talk:
        said = await talk.say("quote for Emily Carter: 3 golden weathercocks")
        assert "golden weathercocks" in said
        assert "create_quote" not in [name for name, _ in talk.called]


async def test_a_quote_for_two_possible_parties_asks_and_goes_on() -> None:
    async with talking(ROOFING) as talk:
        asked = await talk.say("quote for Novak: 3 squares of shingles")
        assert "Jim Novak" in asked
        assert "James Novak" in asked
        await talk.say("James")
        assert talk.called[-1][1]["party_ref"] == "C-0110"
        await talk.say("send it")
        assert talk.called == [("send_quote", {"quote_ref": "Q-1048", "channel": "email"})]


async def test_an_error_of_a_tool_is_passed_on_and_not_called_done() -> None:
    async with talking(ROOFING) as talk:
        said = await talk.say("show Q-9999")
        assert said == "That didn't work: There is no Q-9999. Search for it."
