"""The addresses at which the record leaves and is erased; it is read at those of assistant/doors/record/urls.py."""

from django.urls import path

from ledger.views import record

urlpatterns = [
    path("audit/export/", record.export_record, name="audit_export"),
    path("audit/key.pem", record.public_key, name="audit_key"),
    path("audit/erase/", record.erase, name="audit_erase"),
]
