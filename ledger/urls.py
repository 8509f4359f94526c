"""Which address leads where. Besides ledger.asgi the only module of the ledger that may name the assistant."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/", admin.site.urls),
]
