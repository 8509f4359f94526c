"""The addresses of leads, clients, notes, the trash and the search."""

from django.urls import path

from ledger import url_converters
from ledger.views import client_parts, clients, leads, notes, search

url_converters.register()

urlpatterns = [
    path("leads/", leads.leads, name="leads"),
    path("leads/new/", leads.create, name="lead_new"),
    path("leads/<ref:ref>/", leads.lead, name="lead"),
    path("leads/<ref:ref>/edit/", leads.change, name="lead_edit"),
    path("leads/<ref:ref>/move/", leads.move, name="lead_move"),
    path("clients/", clients.clients, name="clients"),
    path("clients/new/", clients.create, name="client_new"),
    path("clients/<ref:ref>/", clients.client, name="client"),
    path("clients/<ref:ref>/edit/", clients.change, name="client_edit"),
    path("clients/<ref:ref>/archive/", clients.archive, name="client_archive"),
    path("clients/<ref:ref>/contacts/", client_parts.new_contact, name="contact_new"),
    path("clients/<ref:ref>/contacts/<uuid:contact_id>/", client_parts.contact, name="contact"),
    path("clients/<ref:ref>/contacts/<uuid:contact_id>/remove/", client_parts.remove, name="contact_remove"),
    path("clients/<ref:ref>/sites/", client_parts.new_site, name="site_new"),
    path("records/<ref:ref>/notes/", notes.new_note, name="note_new"),
    path("notes/<ref:ref>/delete/", notes.drop_note, name="note_delete"),
    path("trash/", notes.trash, name="trash"),
    path("trash/<ref:ref>/restore/", notes.restore, name="restore"),
    path("search/", search.search, name="search"),
]
