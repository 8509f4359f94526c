"""The addresses of a member's own account."""

from django.urls import path

from ledger.views import passkeys

urlpatterns = [
    path("passkeys/", passkeys.passkeys, name="passkeys"),
    path("passkeys/begin/", passkeys.begin, name="passkey_begin"),
    path("passkeys/add/", passkeys.add, name="passkey_add"),
    path("passkeys/rule/", passkeys.rule, name="passkey_rule"),
    path("passkeys/<uuid:passkey_id>/remove/", passkeys.remove, name="passkey_remove"),
]
