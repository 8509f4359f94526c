"""The addresses of the chat: other programs hold on to them (docs/interfaces.md)."""

from django.urls import URLPattern, URLResolver, include, path

from assistant.doors import (
    api,
    chat,
    deciding,
    inbox,
    inbox_stream,
    insight,
    proposing,
    reviewing,
    settings,
    settling,
    standing,
    stream,
)

app_name = "chat"

on_action: list[URLPattern] = [
    path("", deciding.action, name="action"),
    path("confirm", deciding.confirm, name="action_confirm"),
    path("edit", deciding.edit, name="action_edit"),
    path("reject", deciding.reject, name="action_reject"),
    path("cancel", deciding.cancel, name="action_cancel"),
    path("undo", deciding.undo, name="action_undo"),
    path("seen", deciding.seen, name="action_seen"),
    path("ask", deciding.ask, name="action_ask"),
    path("again", deciding.again, name="action_again"),
    path("wrong", reviewing.wrong, name="action_wrong"),
    path("reverse", deciding.reverse, name="action_reverse"),
    path("settle", settling.settle, name="action_settle"),
    path("document.pdf", deciding.document, name="action_document"),
    path("page.png", deciding.page, name="action_page"),
    path("evidence/<int:slot>", deciding.evidence, name="action_evidence"),
]
on_conversation: list[URLPattern | URLResolver] = [
    path("", chat.conversation, name="conversation"),
    path("messages", chat.messages, name="messages"),
    path("events", stream.events, name="events"),
    path("stop", chat.stop, name="stop"),
    path("retry", chat.retry, name="retry"),
    path("actions/<uuid:action_id>/", include(on_action)),
]
urlpatterns: list[URLPattern | URLResolver] = [
    path("c/", chat.conversations, name="list"),
    path("c/desk/propose/<slug:tool>/", proposing.propose, name="propose"),
    path("c/<uuid:conversation_id>/", include(on_conversation)),
    path("inbox/", inbox.inbox, name="inbox"),
    path("inbox/events", inbox_stream.events, name="inbox_events"),
    path("inbox/alerts/<uuid:alert_id>/handled", inbox.handled, name="alert_handled"),
    path("inbox/review/", reviewing.review, name="review"),
    path("inbox/review/<uuid:check_id>/", reviewing.mark, name="review_mark"),
    path("inbox/<slug:tab>/", inbox.inbox, name="inbox_tab"),
    path("insight/", insight.insight, name="insight"),
    path("standing/", standing.rules, name="standing"),
    path("standing/new/", standing.write, name="standing_write"),
    path("standing/<uuid:rule_id>/", standing.rule, name="standing_rule"),
    path("standing/<uuid:rule_id>/on", standing.turn_on, name="standing_on"),
    path("standing/<uuid:rule_id>/revoke", standing.revoke, name="standing_revoke"),
    path("settings/", settings.settings, name="settings"),
    path("settings/pause", settings.pause, name="pause"),
    path("settings/turn-on", settings.turn_on, name="turn_on"),
    path("settings/letter", settings.letter, name="weekly_letter"),
    path("settings/review/", settings.review_policy, name="review_policy"),
    path("settings/review/history/", settings.history, name="policy_history"),
    path("settings/review/<slug:part>", settings.change_policy, name="change_policy"),
    path("api/v1/agent/pause", api.pause, name="api_pause"),
    path("api/v1/tools/", api.tools, name="api_tools"),
    path("api/v1/conversations/<uuid:conversation_id>/messages/", api.messages, name="api_messages"),
    path("api/v1/actions/<uuid:action_id>/", api.action, name="api_action"),
]
