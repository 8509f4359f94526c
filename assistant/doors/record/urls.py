"""The addresses of the record that the assistant's doors answer; the others are in ledger/urls_record.py."""

from django.urls import URLPattern, path

from assistant.doors.record import events, stories

urlpatterns: list[URLPattern] = [
    path("audit/", events.events, name="audit"),
    path("audit/actions/<uuid:action_id>/", stories.action, name="audit_action"),
    path("audit/actions/<uuid:action_id>/story.pdf", stories.on_paper, name="audit_action_paper"),
    path("audit/actions/<uuid:action_id>/document.pdf", stories.document, name="audit_action_document"),
    path("audit/actions/<uuid:action_id>/page.png", stories.page, name="audit_action_page"),
]
