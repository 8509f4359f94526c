"""The addresses of a member's own account."""

from django.urls import path

from ledger.views import away, passkeys

urlpatterns = [
    path("away/", away.away, name="away"),
    path("away/<uuid:delegation_id>/end", away.end, name="away_end"),
    path("passkeys/", passkeys.passkeys, name="passkeys"),
    path("passkeys/begin/", passkeys.begin, name="passkey_begin"),
    path("passkeys/add/", passkeys.add, name="passkey_add"),
    path("passkeys/rule/", passkeys.rule, name="passkey_rule"),
    path("passkeys/<uuid:passkey_id>/remove/", passkeys.remove, name="passkey_remove"),
]
