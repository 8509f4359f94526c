"""Which address leads where. Besides ledger.asgi the only module of the ledger that may name the assistant."""

from django.contrib.auth.views import LogoutView
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

from ledger.admin_site import site
from ledger.views import account, metrics

handler500 = "ledger.views.problems.server_error"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", RedirectView.as_view(url="/c/"), name="home"),
    path("metrics", metrics.metrics, name="metrics"),
    path("login/", account.sign_in, name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("companies/", account.companies, name="companies"),
    path("", include("assistant.doors.urls")),
    path("", include("assistant.doors.record.urls")),
    path("", include("ledger.urls_record")),
    path("", include("ledger.urls_account")),
    path("", include("ledger.urls_parties")),
    path("", include("ledger.urls_quotes")),
    path("", include("ledger.urls_money")),
    path("admin/", site.urls),
]
