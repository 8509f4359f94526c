"""Tool calls as servers really stream them: cases H36 to H40, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from assistant.agent.failures import ModelInterrupted
from tests.assistant.agent.endpoint import ENDED, Heard, call_delta, delta, piece, scripted


async def heard(*acts: dict[str, Any], **step: Any) -> Heard:
    async with scripted({"do": list(acts), **step}) as endpoint:
        return await endpoint.ask()


async def test_h36_parallel_calls_that_all_say_index_0_are_two_calls() -> None:
    reply = await heard(
        call_delta(piece("get_client", '{"id":7}', id="c1", index=0)),
        call_delta(piece("list_invoices", '{"client":7}', id="c2", index=0)),
        *ENDED,
    )
    assert reply.calls == [
        ("c1", "get_client", {"id": 7}, None),
        ("c2", "list_invoices", {"client": 7}, None),
    ]
    assert reply.started == ["get_client", "list_invoices"]


async def test_h36_pieces_with_the_same_id_continue_their_call() -> None:
    reply = await heard(
        call_delta(piece("get_client", '{"i', id="c1", index=0)),
        call_delta(piece(None, 'd":7}', id="c1", index=0)),
        call_delta(piece("list_invoices", "", id="c2", index=0)),
        call_delta(piece(None, '{"client"', index=0)),
        call_delta(piece(None, ":7}", id="c2", index=0)),
        *ENDED,
    )
    assert reply.calls == [
        ("c1", "get_client", {"id": 7}, None),
        ("c2", "list_invoices", {"client": 7}, None),
    ]


async def test_h37_calls_without_an_index_are_told_apart_by_their_id() -> None:
    reply = await heard(
        call_delta(piece("get_client", '{"id":7}', id="c1")),
        call_delta(piece("get_client", '{"id":9}', id="c2")),
        *ENDED,
    )
    assert reply.calls == [("c1", "get_client", {"id": 7}, None), ("c2", "get_client", {"id": 9}, None)]


async def test_h37_two_whole_calls_in_one_chunk_without_an_index() -> None:
    reply = await heard(
        call_delta(piece("get_client", '{"id":7}', id="c1"), piece("get_client", '{"id":9}', id="c2")),
        *ENDED,
    )
    assert reply.calls == [("c1", "get_client", {"id": 7}, None), ("c2", "get_client", {"id": 9}, None)]


async def test_h37_an_index_in_words_or_none_and_ids_alone_tell_calls_apart() -> None:
    reply = await heard(
        call_delta({"index": "0", "id": "c1", "function": {"name": "get_client", "arguments": '{"id"'}}),
        call_delta({"index": None, "id": "c2", "function": {"name": "get_client", "arguments": '{"id"'}}),
        call_delta({"id": "c1", "function": {"arguments": ":7}"}}, {"id": "c2", "function": {"arguments": ":9}"}}),
        *ENDED,
    )
    assert reply.calls == [("c1", "get_client", {"id": 7}, None), ("c2", "get_client", {"id": 9}, None)]


async def test_h37_calls_with_neither_index_nor_id_get_an_id_of_our_own() -> None:
    reply = await heard(
        call_delta(piece("get_client", '{"id":7}'), piece("get_client", '{"id":9}')),
        call_delta(piece("list_leads", "")),
        *ENDED,
    )
    ids = [call_id for call_id, *_ in reply.calls]
    assert len(set(ids)) == 3
    assert all(call_id.startswith("call_") for call_id in ids)
    assert [rest for _, *rest in reply.calls] == [
        ["get_client", {"id": 7}, None],
        ["get_client", {"id": 9}, None],
        ["list_leads", {}, None],
    ]


async def test_a_new_id_with_every_piece_of_a_call_is_still_one_call() -> None:
    reply = await heard(
        call_delta(piece("get_client", "", id="a1", index=0)),
        call_delta(piece(None, '{"id"', id="b2", index=0)),
        call_delta(piece(None, ":7}", id="c3", index=0)),
        *ENDED,
    )
    assert reply.calls == [("a1", "get_client", {"id": 7}, None)]


async def test_an_id_that_comes_late_belongs_to_the_call_without_one() -> None:
    reply = await heard(call_delta(piece("get_client")), call_delta(piece(None, '{"id":7}', id="c1")), *ENDED)
    assert reply.calls == [("c1", "get_client", {"id": 7}, None)]


async def test_a_name_that_every_piece_repeats_is_no_new_call() -> None:
    reply = await heard(
        call_delta(piece("get_client", "", id="c1", index=0)),
        call_delta(piece("get_client", '{"id"', id="c1", index=0)),
        call_delta(piece("get_client", ":7}", id="c1", index=0)),
        *ENDED,
    )
    assert reply.calls == [("c1", "get_client", {"id": 7}, None)]


async def test_a_name_in_pieces_is_put_together() -> None:
    reply = await heard(
        call_delta(piece("get_", None, id="c1", index=0)),
        call_delta(piece("client", None, index=0)),
        call_delta(piece(None, '{"id":7}', index=0)),
        *ENDED,
    )
    assert reply.calls == [("c1", "get_client", {"id": 7}, None)]


async def test_a_finished_call_that_is_sent_again_at_the_end_runs_once() -> None:
    whole = piece("get_client", '{"id":7}', id="c1", index=0)
    reply = await heard(call_delta(whole), call_delta(whole), *ENDED)
    assert reply.calls == [("c1", "get_client", {"id": 7}, None)]


async def test_the_same_id_for_two_calls_gives_the_second_an_id_of_our_own() -> None:
    reply = await heard(
        call_delta(piece("get_client", '{"id":7}', id="call_0", index=0)),
        call_delta(piece("get_client", '{"id":9}', id="call_0", index=1)),
        *ENDED,
    )
    assert [call[1:] for call in reply.calls] == [
        ("get_client", {"id": 7}, None),
        ("get_client", {"id": 9}, None),
    ]
    assert reply.calls[0][0] == "call_0"
    assert reply.calls[1][0] not in ("call_0", "")


async def test_an_id_that_the_conversation_has_used_is_replaced() -> None:
    history = [
        {"role": "user", "content": "hello"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_0", "type": "function", "function": {"name": "list_leads", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "call_0", "content": "{}"},
    ]
    async with scripted({"do": [call_delta(piece("get_client", "{}", id="call_0", index=0)), *ENDED]}) as endpoint:
        reply = await endpoint.ask(history)
    assert reply.calls[0][1:] == ("get_client", {}, None)
    assert reply.calls[0][0] != "call_0"


async def test_index_gaps_and_interleaved_pieces_keep_each_call_whole() -> None:
    reply = await heard(
        call_delta(piece("get_client", '{"id"', id="c1", index=3)),
        call_delta(piece("get_quote", '{"ref"', id="c2", index=7)),
        call_delta(piece(None, ":7}", index=3), piece(None, ':"Q-1"}', index=7)),
        *ENDED,
    )
    assert reply.calls == [("c1", "get_client", {"id": 7}, None), ("c2", "get_quote", {"ref": "Q-1"}, None)]


async def test_all_index_0_without_ids_is_told_apart_by_finished_arguments() -> None:
    reply = await heard(
        call_delta(piece("get_client", '{"id":7}', index=0)),
        call_delta(piece("get_client", '{"id":9}', index=0)),
        call_delta(piece("list_leads", "", index=0)),
        *ENDED,
    )
    assert [call[1:] for call in reply.calls] == [
        ("get_client", {"id": 7}, None),
        ("get_client", {"id": 9}, None),
        ("list_leads", {}, None),
    ]


async def test_the_old_function_call_form_is_one_call() -> None:
    reply = await heard(
        delta(function_call={"name": "get_client", "arguments": ""}),
        delta(function_call={"arguments": '{"id":7}'}),
        {"finish": "function_call"},
        {"done": True},
    )
    assert [call[1:] for call in reply.calls] == [("get_client", {"id": 7}, None)]


async def test_arguments_that_come_as_an_object_are_taken() -> None:
    reply = await heard(call_delta(piece("get_client", {"id": 7}, id="c1", index=0)), *ENDED)
    assert reply.calls == [("c1", "get_client", {"id": 7}, None)]


async def test_an_empty_shell_of_a_call_is_no_call() -> None:
    reply = await heard(call_delta({"index": 0}), call_delta(piece("list_leads", "{}", id="c1", index=1)), *ENDED)
    assert reply.calls == [("c1", "list_leads", {}, None)]


@pytest.mark.parametrize("arguments", ["", "  ", None, "null", "{}", "[]", '""', "\u00a0\n"])
async def test_h38_empty_arguments_are_no_arguments(arguments: str | None) -> None:
    reply = await heard(call_delta(piece("list_overdue_invoices", arguments, id="c1", index=0)), *ENDED)
    assert reply.calls == [("c1", "list_overdue_invoices", {}, None)]
    assert reply.reply.calls[0].arguments_json == "{}"


async def test_h39_a_call_that_ends_with_stop_runs() -> None:
    reply = await heard(call_delta(piece("list_invoices", "{}", id="c1", index=0)), {"finish": "stop"}, {"done": True})
    assert reply.calls == [("c1", "list_invoices", {}, None)]
    assert reply.reply.complete


async def test_h39_a_whole_call_without_a_proper_end_is_interrupted() -> None:
    """The call is complete: only the missing end tells that more may have been lost."""
    acts = [{"text": "Let me look."}, call_delta(piece("list_invoices", "{}", id="c1", index=0))]
    for ending in ({"end": True}, {"cut": True}):
        async with scripted({"do": [*acts, ending]}) as endpoint:
            with pytest.raises(ModelInterrupted) as caught:
                await endpoint.ask()
        assert (caught.value.code, caught.value.text) == ("cut", "Let me look.")
        assert endpoint.heard.started == ["list_invoices"]


async def test_a_finish_reason_without_done_is_a_proper_end() -> None:
    for ending in ({"end": True}, {"cut": True}):
        reply = await heard(
            call_delta(piece("list_invoices", "{}", id="c1", index=0)), {"finish": "tool_calls"}, ending
        )
        assert reply.calls == [("c1", "list_invoices", {}, None)]


CUT = '{"invoice_id": 42, "to": ["a@exam'


@pytest.mark.parametrize(
    ("name", "arguments", "reason", "complete"),
    [
        ("send_invoice", CUT, "length", False),
        ("send_invoice", CUT, "tool_calls", True),
        ("create_quote", '{"party_ref": "C-0101"}', "length", False),
    ],
    ids=["a", "b", "c"],
)
async def test_h40_a_call_cut_by_the_limit_does_not_run(name: str, arguments: str, reason: str, complete: bool) -> None:
    reply = await heard(call_delta(piece(name, arguments, id="c1", index=0)), {"finish": reason}, {"done": True})
    assert reply.calls == [("c1", name, None, "cut")]
    assert reply.reply.complete is complete
    assert reply.reply.calls[0].arguments_json == "{}"
    assert reply.reply.calls[0].arguments_text == arguments


async def test_h40_a_reason_that_comes_after_the_cut_does_not_hide_it() -> None:
    whole = call_delta(piece("create_quote", '{"party_ref": "C-0101"}', id="c1", index=0))
    for first, then in (("length", "tool_calls"), ("MAX_TOKENS", "stop")):
        reply = await heard(whole, {"finish": first}, {"finish": then}, {"done": True})
        assert reply.calls == [("c1", "create_quote", None, "cut")]
        assert reply.reply.complete is False


@pytest.mark.parametrize(
    "end", ['"to": ["a@example.com"', '"n": 1', '"message":', '"t": "a\\u00', '"now": tr', '"x": -']
)
async def test_h40_wherever_the_limit_falls_the_call_does_not_run(end: str) -> None:
    reply = await heard(call_delta(piece("send_invoice", '{"amount": "150.00", ' + end, id="c1", index=0)), *ENDED)
    assert reply.calls == [("c1", "send_invoice", None, "cut")]


@pytest.mark.parametrize("ending", [{"finish": ""}, {"raw": 'data: {"choices": [{"index": 0, "delta": {}, "fini'}])
async def test_h39_half_an_end_is_no_end(ending: dict[str, Any]) -> None:
    acts = [call_delta(piece("list_invoices", "{}", id="c1", index=0)), ending, {"end": True}]
    async with scripted({"do": acts}) as endpoint:
        with pytest.raises(ModelInterrupted) as caught:
            await endpoint.ask()
    assert caught.value.code == "cut"


async def test_a_whole_call_before_a_damaged_one_still_runs() -> None:
    reply = await heard(
        call_delta(piece("list_leads", "{}", id="c1", index=0), piece("send_invoice", CUT, id="c2", index=1)),
        *ENDED,
    )
    assert reply.calls == [("c1", "list_leads", {}, None), ("c2", "send_invoice", None, "cut")]


async def test_128_calls_are_taken_and_129_are_refused() -> None:
    def calls(count: int) -> list[dict[str, Any]]:
        return [call_delta(*(piece("list_leads", "{}", id=f"c{n}", index=n) for n in range(count))), *ENDED]

    assert len((await heard(*calls(128))).calls) == 128
    async with scripted({"do": calls(129)}) as endpoint:
        with pytest.raises(ModelInterrupted) as caught:
            await endpoint.ask()
    assert caught.value.code == "too_large"


async def test_a_call_without_a_name_and_one_that_is_too_large_do_not_run() -> None:
    large = '{"body": "' + "x" * 70_000 + '"}'
    reply = await heard(
        call_delta(piece(None, '{"a": 1}', id="c1", index=0), piece("add_note", large, id="c2", index=1)), *ENDED
    )
    assert reply.calls == [("c1", "", None, "no_name"), ("c2", "add_note", None, "too_large")]


async def test_a_name_and_an_id_that_cannot_be_stored_are_made_storable() -> None:
    reply = await heard(call_delta(piece("get\u0000x" + "y" * 100_000, "{}", id="c\u00001", index=0)), *ENDED)
    call = reply.reply.calls[0]
    assert (len(call.name), call.name[:5]) == (128, "get�x")
    assert call.id.startswith("call_")
    assert call.arguments == {}
