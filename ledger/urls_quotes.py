"""The addresses of quotes, price book, messages, and the client's page of a quote."""

from django.urls import path

from ledger import url_converters
from ledger.views import outbox, pricebook, public_quotes, quote_editing, quotes

url_converters.register()

urlpatterns = [
    path("quotes/", quotes.quotes, name="quotes"),
    path("quotes/<ref:ref>/", quotes.quote, name="quote"),
    path("quotes/<ref:ref>/edit/", quote_editing.edit, name="quote_edit"),
    path("quotes/<ref:ref>/edit/sums/", quote_editing.sums, name="quote_sums"),
    path("quotes/<ref:ref>/preview/", quotes.preview, name="quote_preview"),
    path("quotes/<ref:ref>/revise/", quotes.revise, name="quote_revise"),
    path("quotes/<ref:ref>/pdf/<sha256:sha256>/", quotes.pdf, name="quote_pdf"),
    path("quotes/<ref:ref>/page/<sha256:sha256>/", quotes.page, name="quote_page"),
    path("price-book/", pricebook.price_book, name="price_book"),
    path("outbox/", outbox.outbox, name="outbox"),
    path("outbox/<ref:ref>/", outbox.message, name="message"),
    path("outbox/<ref:ref>/files/<sha256:sha256>/", outbox.attachment, name="message_file"),
    path("q/<slug:token>/", public_quotes.page, name="public_quote"),
    path("q/<slug:token>/accept/", public_quotes.accept, name="public_quote_accept"),
    path("q/<slug:token>/decline/", public_quotes.decline, name="public_quote_decline"),
    path("q/<slug:token>/changes/", public_quotes.changes, name="public_quote_changes"),
    path("q/<slug:token>/seen/", public_quotes.seen, name="public_quote_seen"),
    path("q/<slug:token>/pdf/", public_quotes.pdf, name="public_quote_pdf"),
]
