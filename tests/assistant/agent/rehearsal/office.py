"""Two pretend offices and a conversation with the rehearsal model about them, over real HTTP.

The tools answer in the shapes of the real ones. A gated tool answers "proposed"; `decide` puts the record of what
became of the cards into the history, as the product does.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from assistant.agent.llm import Model
from assistant.agent.model_settings import ModelSettings
from assistant.agent.rehearsal.app import RehearsalApp
from assistant.agent.rehearsal.serve import serving
from assistant.agent.replies import Call, Finished, TextDelta

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
OBJECT = {"type": "object"}
OBJECTS = {"type": "array", "items": OBJECT}
CHANNEL = {"type": "string", "enum": ["email", "sms", "whatsapp"]}

READING: dict[str, dict[str, Any]] = {
    "search_records": {"query": TEXT},
    "search_price_book": {"query": TEXT},
    "list_pending_actions": {"mine": {"type": "boolean"}},
    "get_action": {"action_ref": TEXT},
    "list_leads": {"stage": TEXT},
    "list_clients": {"city": TEXT},
    "list_quotes": {"status": TEXT, "client_ref": TEXT},
    "list_payments": {"client_ref": TEXT},
    "list_overdue_invoices": {"limit": NUMBER},
    "get_lead": {"lead_ref": TEXT},
    "get_client": {"client_ref": TEXT},
    "get_quote": {"quote_ref": TEXT},
    "get_invoice": {"invoice_ref": TEXT},
    "get_payment": {"payment_ref": TEXT},
    "preview_quote_pdf": {"quote_ref": TEXT},
}
WRITING: dict[str, dict[str, Any]] = {
    "add_note": {"record_ref": TEXT, "body": TEXT},
    "create_lead": {"name": TEXT, "phone": TEXT, "email": TEXT, "notes": TEXT, "on_duplicate": TEXT},
    "create_client": {"name": TEXT, "kind": TEXT, "phone": TEXT, "email": TEXT},
    "create_quote": {"party_ref": TEXT, "title": TEXT, "lines": OBJECTS, "discount_pct": TEXT},
    "edit_quote_lines": {"quote_ref": TEXT, "expected_version": NUMBER, "operations": OBJECTS},
    "create_invoice": {"client_ref": TEXT, "quote_ref": TEXT, "lines": OBJECTS, "percent_of_quote": TEXT},
    "draft_message": {"party_ref": TEXT, "channel": CHANNEL, "subject": TEXT, "body": TEXT},
    "move_lead_stage": {"lead_ref": TEXT, "stage": TEXT, "lost_reason": TEXT},
    "update_client": {"client_ref": TEXT, "expected_version": NUMBER, "patch": OBJECT},
    "archive_client": {"client_ref": TEXT},
}
GATED: dict[str, dict[str, Any]] = {
    "send_quote": {"quote_ref": TEXT, "channel": CHANNEL, "to": TEXT, "message": TEXT},
    "send_invoice": {"invoice_ref": TEXT, "channel": CHANNEL},
    "send_email": {"party_ref": TEXT, "subject": TEXT, "body": TEXT},
    "record_payment": {
        "client_ref": TEXT,
        "amount": TEXT,
        "method": TEXT,
        "received_on": TEXT,
        "allocations": OBJECTS,
        "reference": TEXT,
    },
    "refund_payment": {"payment_ref": TEXT, "amount": TEXT, "reason": TEXT, "note": TEXT},
    "convert_lead_to_client": {"lead_ref": TEXT, "subject_hint": TEXT},
    "delete_lead": {"lead_ref": TEXT, "subject_hint": TEXT},
    "delete_client": {"client_ref": TEXT, "subject_hint": TEXT},
    "delete_quote": {"quote_ref": TEXT, "subject_hint": TEXT},
}
SCHEMAS = READING | WRITING | GATED

ROOFING: dict[str, Any] = {
    "currency": "USD",
    "language": "English",
    "parties": [
        ("C-0101", "John Smith", "Austin", "1418 Cedar Bend Dr"),
        ("C-0102", "Smith Property Group LLC", "Austin", "900 Congress Ave"),
        ("C-0103", "Maria Gonzalez", "Austin", "2207 Willow Creek Dr"),
        ("C-0104", "Patel Family Dental", "Round Rock", "77 Gattis School Rd"),
        ("C-0107", "Emily Carter", "Austin", "5512 Shoal Creek Blvd"),
        ("C-0109", "Jim Novak", "Hutto", "12 Front St"),
        ("C-0110", "James Novak", "Hutto", "12 Front Street"),
        ("L-0031", "Joanne Smith", "Austin", "88 Barton Hills Dr"),
        ("L-0034", "Hannah Kim", "Austin", "1905 Onion Creek Pkwy"),
        ("L-0037", "Sarah Whitman", "Cedar Park", "21 Brushy Creek Rd"),
    ],
    "quotes": [
        ("Q-1042", "C-0101", "Full roof replacement", "draft", "10157.64"),
        ("Q-1047", "C-0102", "Gutter replacement, building B", "draft", "4845.70"),
        ("Q-1035", "C-0104", "TPO flat roof", "accepted", "21729.22"),
    ],
    "invoices": [("INV-0229", "C-0103", "overdue", "4180.25"), ("INV-0237", "C-0109", "overdue", "395.00")],
    "payments": [("PAY-0310", "C-0107", "1240.00")],
    "prices": [
        ("PI-01", "Architectural shingles", "sq", "145.00"),
        ("PI-02", "Tear-off and install labor", "sq", "210.00"),
        ("PI-05", "Ridge vent", "lf", "6.75"),
        ("PI-06", "Chimney flashing kit", "ea", "385.50"),
    ],
    "new_quote": "Q-1048",
}
TELHADOS: dict[str, Any] = {
    "currency": "BRL",
    "language": "Portuguese (Brazil)",
    "parties": [
        ("C-0101", "João Silva", "Campinas", "Rua das Acácias, 120"),
        ("C-0102", "João Batista Pereira", "Valinhos", "Av. Brasil, 2200"),
        ("C-0103", "Mariana Costa", "Campinas", "Rua Sacramento, 55"),
        ("C-0104", "Condomínio Jardim das Flores", "Campinas", "Rua dos Jasmins, 900"),
        ("C-0109", "Ana Silva", "Vinhedo", "Rua das Videiras, 31"),
        ("L-0011", "Patrícia Nunes", "Sumaré", "Rua Sete, 77"),
    ],
    "quotes": [
        ("ORC-0310", "C-0101", "Troca de calhas e rufos", "draft", "3588.00"),
        ("ORC-0311", "C-0104", "Manta térmica bloco A", "draft", "7595.00"),
        ("ORC-0314", "C-0109", "Reparo de vazamento", "draft", "480.00"),
    ],
    "invoices": [("FAT-0119", "C-0103", "overdue", "760.00")],
    "payments": [("PAY-0201", "C-0102", "1850.00")],
    "prices": [
        ("PI-01", "Telha termoacústica instalada", "m2", "189.90"),
        ("PI-02", "Mão de obra de cobertura", "vb", "6500.00"),
        ("PI-03", "Calha galvanizada", "m", "78.00"),
    ],
    "new_quote": "ORC-0315",
}


def plain(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(c))


@dataclass
class Office:
    """Answers the tools from its tables."""

    data: dict[str, Any]
    notes: dict[str, str] = field(default_factory=dict)

    def answer(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        method = getattr(self, tool, None)
        if method is None:
            ref = next((value for key, value in arguments.items() if key.endswith("_ref")), "")
            return {"ref": ref, "done": True}
        found: dict[str, Any] = method(**arguments)
        return found

    def party(self, ref: str) -> dict[str, Any]:
        row = next(row for row in self.data["parties"] if row[0] == ref)
        return {"ref": row[0], "name": row[1], "city": row[2]}

    def quote(self, row: tuple[str, ...]) -> dict[str, Any]:
        ref, _, title, status, total = row
        return {"ref": ref, "title": title, "status": status, "total": total, "currency": self.data["currency"]}

    def documents(self, party: str) -> list[dict[str, Any]]:
        quotes = [self.quote(row) for row in self.data["quotes"] if row[1] == party]
        rows = [row for row in self.data["invoices"] if row[1] == party]
        return quotes + [{"ref": ref, "status": status, "total": total} for ref, _, status, total in rows]

    def search_records(self, query: str) -> dict[str, Any]:
        words = plain(query).split()
        hits = []
        for ref, name, city, address in self.data["parties"]:
            if all(word in plain(f"{name} {city} {address} {ref}") for word in words):
                kind = "client" if ref.startswith("C") else "lead"
                hit = {"kind": kind, "ref": ref, "name": name, "city": city}
                hits.append(hit | ({"documents": self.documents(ref)} if self.documents(ref) else {}))
        return {"hits": hits, "ambiguous": len(hits) > 1}

    def search_price_book(self, query: str = "") -> dict[str, Any]:
        words = plain(query).split()
        rows = [row for row in self.data["prices"] if all(word in plain(row[1]) for word in words)]
        items = [{"ref": ref, "name": name, "unit": unit, "unit_price": price} for ref, name, unit, price in rows]
        return {"items": items, "currency": self.data["currency"]}

    def list_leads(self, stage: str = "") -> dict[str, Any]:
        rows = [row for row in self.data["parties"] if row[0].startswith("L")]
        leads = [
            {"ref": ref, "name": name, "stage": stage or "new", "notes": self.notes.get(ref, "")}
            for ref, name, *_ in rows
        ]
        return {"leads": leads}

    def list_clients(self, city: str = "") -> dict[str, Any]:
        return {"clients": [self.party(row[0]) for row in self.data["parties"] if row[0].startswith("C")]}

    def list_quotes(self, status: str = "", client_ref: str = "") -> dict[str, Any]:
        rows = [row for row in self.data["quotes"] if status in ("", row[3]) and client_ref in ("", row[1])]
        return {"quotes": [self.quote(row) | {"party": self.party(row[1])} for row in rows]}

    def list_payments(self, client_ref: str = "") -> dict[str, Any]:
        rows = [row for row in self.data["payments"] if client_ref in ("", row[1])]
        return {"payments": [{"ref": ref, "amount": amount} for ref, _, amount in rows]}

    def list_overdue_invoices(self) -> dict[str, Any]:
        rows = self.data["invoices"]
        items = [
            {"ref": ref, "client": self.party(party)["name"], "balance": total, "days_late": 47}
            for ref, party, _, total in rows
        ]
        cents = sum(int(row[3].replace(".", "")) for row in rows)
        total = f"{cents // 100}.{cents % 100:02d}"
        return {"items": items, "count": len(items), "total": total, "currency": self.data["currency"]}

    def get_quote(self, quote_ref: str) -> dict[str, Any]:
        row = next((row for row in self.data["quotes"] if row[0] == quote_ref), None)
        if row is None:
            return {"error": "NOT_FOUND", "message": f"There is no {quote_ref}.", "hint": "Search for it."}
        prices = self.data["prices"]
        lines = [
            {"line": n, "description": prices[n - 1][1], "qty": "28", "unit": prices[n - 1][2], "net": "100.00"}
            for n in range(1, len(prices) + 1)
        ]
        return self.quote(row) | {"party": self.party(row[1]), "version": 3, "lines": lines}

    def get_client(self, client_ref: str) -> dict[str, Any]:
        return self.party(client_ref) | {"version": 7, "email": "someone@example.com"}

    def create_quote(self, party_ref: str, title: str, **_: Any) -> dict[str, Any]:
        row = (self.data["new_quote"], party_ref, title, "draft", "1234.56")
        self.data["quotes"] = [*self.data["quotes"], row]
        return self.get_quote(row[0])

    def create_lead(self, name: str, on_duplicate: str = "", **_: Any) -> dict[str, Any]:
        same = [self.party(row[0]) for row in self.data["parties"] if plain(row[1]) == plain(name)]
        if same and on_duplicate != "create":
            return {"error": "PROBABLE_DUPLICATE", "message": "It may be there.", "data": {"candidates": same}}
        return {"ref": "L-0090", "name": name, "stage": "new"}

    def create_client(self, name: str, **_: Any) -> dict[str, Any]:
        return {"ref": "C-0190", "name": name}

    def create_invoice(self, client_ref: str, **_: Any) -> dict[str, Any]:
        return {"ref": "D-0013", "client": self.party(client_ref), "status": "draft", "total": "500.00"}

    def list_pending_actions(self, **_: Any) -> dict[str, Any]:
        return {"actions": []}


@dataclass
class Talk:
    """A conversation: `say` a message and get the model's words; `called` lists the calls since then."""

    model: Model
    office: Office
    offered: list[str]
    messages: list[dict[str, Any]] = field(default_factory=list)
    called: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    waiting: list[tuple[str, str, str]] = field(default_factory=list)
    text_before_cards: str = ""

    async def say(self, text: str) -> str:
        for action, tool, summary in self.waiting:
            self._record(
                {"event": "expired", "tool": tool, "action": action, "summary": summary, "closed_by": "new_message"}
            )
        self.waiting.clear()
        self.messages.append({"role": "user", "content": text})
        return await self._turn()

    async def decide(self, *events: str, **more: Any) -> str:
        """What became of the waiting cards, in their order; one event stands for all."""
        chosen = events * len(self.waiting) if len(events) == 1 else events
        for event, (action, tool, summary) in zip(chosen, self.waiting, strict=True):
            self._record({"event": event, "tool": tool, "action": action, "summary": summary} | more)
        self.waiting.clear()
        return await self._turn()

    def _record(self, data: dict[str, Any]) -> None:
        self.messages.append({"role": "developer", "content": f"[record] {json.dumps(data, ensure_ascii=False)}"})

    async def _turn(self) -> str:
        self.called = []
        said = []
        for _ in range(8):
            text, calls = await self._ask()
            said.append(text)
            reply: dict[str, Any] = {"role": "assistant", "content": text or None}
            if not calls:
                self.messages.append(reply)
                break
            reply["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments_json}}
                for call in calls
            ]
            self.messages.append(reply)
            self.messages += [self._run(call) for call in calls]
            if self.waiting:
                break
        else:
            raise AssertionError("the model needs more than eight calls")
        return "\n".join(part for part in said if part)

    async def _ask(self) -> tuple[str, tuple[Call, ...]]:
        system = f"Language: {self.office.data['language']}\nToday: 2026-11-30 (Monday)\n"
        tools = [
            {
                "type": "function",
                "function": {"name": name, "parameters": {"type": "object", "properties": SCHEMAS[name]}},
            }
            for name in self.offered
        ]
        text, reply = "", None
        async with aclosing(
            self.model.stream([{"role": "system", "content": system}, *self.messages], tools)
        ) as events:
            async for event in events:
                text += event.text if isinstance(event, TextDelta) else ""
                reply = event.reply if isinstance(event, Finished) else None
        assert reply is not None
        assert reply.text == text
        assert all(call.problem is None for call in reply.calls)
        assert {call.name for call in reply.calls} <= set(self.offered)
        return text, reply.calls

    def _run(self, call: Call) -> dict[str, Any]:
        assert call.arguments is not None
        assert set(call.arguments) <= set(SCHEMAS[call.name])
        self.called.append((call.name, call.arguments))
        if call.name in GATED:
            action, summary = f"action-{len(self.messages)}-{call.id}", f"{call.name} {sorted(call.arguments.items())}"
            self.waiting.append((action, call.name, summary))
            result = {"status": "proposed", "executed": False, "action": action, "summary": summary}
            result["note"] = "proposed, NOT executed, do not call again"
        else:
            result = self.office.answer(call.name, call.arguments)
        return {"role": "tool", "tool_call_id": call.id, "content": json.dumps(result, ensure_ascii=False)}


@asynccontextmanager
async def talking(data: dict[str, Any], without: tuple[str, ...] = ()) -> AsyncIterator[Talk]:
    """A conversation in one of the offices. The endpoint refuses any history that is not valid."""
    async with serving(RehearsalApp()) as url:
        model = Model(ModelSettings(base_url=url, model="rehearsal", developer_role=True))
        try:
            yield Talk(model, Office(dict(data)), [name for name in SCHEMAS if name not in without])
        finally:
            await model.aclose()
