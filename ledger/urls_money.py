"""The addresses of invoices and payments."""

from django.urls import path

from ledger import url_converters
from ledger.views import invoices, payments

url_converters.register()

urlpatterns = [
    path("invoices/", invoices.invoices, name="invoices"),
    path("invoices/<ref:ref>/", invoices.invoice, name="invoice"),
    path("invoices/<ref:ref>/preview/", invoices.preview, name="invoice_preview"),
    path("invoices/<ref:ref>/pdf/<sha256:sha256>/", invoices.pdf, name="invoice_pdf"),
    path("invoices/<ref:ref>/page/<sha256:sha256>/", invoices.page, name="invoice_page"),
    path("payments/", payments.payments, name="payments"),
    path("payments/<ref:ref>/", payments.payment, name="payment"),
]
