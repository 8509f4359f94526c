"""Every setting, from the environment.

| variable | meaning | when it is not set |
| --- | --- | --- |
| DEBUG | 1 development, 0 production | 1, unless SECRET_KEY, DATABASE_URL or AVAL_HOSTS is set |
| SECRET_KEY | signs sessions and links; 50 characters or more | development: made once, kept in the data folder |
| AVAL_HOSTS (or ALLOWED_HOSTS) | host names to answer to, separated by commas | development: this machine only |
| AVAL_URL | the address in e-mails and links | https:// and the first host; development: localhost |
| AVAL_TRUST_PROXY | 1: believe X-Forwarded-Proto (behind a proxy that sets it) | 0 |
| PORT, AVAL_BIND | port and address of the web process | 8000; all addresses, with bin/dev this machine only |
| AVAL_DATA_DIR | what this installation keeps: the embedded database, a key | var/ |
| DATABASE_URL | postgresql://…, PostgreSQL 15 or newer | development: the embedded server |
| DATABASE_OWNER_URL | the same database as the role that owns the tables, for migrate alone | DATABASE_URL owns them |
| DATABASE_DIRECT_URL | the same database past a pgbouncer, for LISTEN | DATABASE_URL |
| AVAL_DATABASE_POOL | connections that a web or agent process may hold | 16 |
| AVAL_PROCESS | web, agent, worker, migrate or command | what the entry point says |
| REDIS_URL | the channel layer on Redis | the channel layer on PostgreSQL |
| EMAIL_URL | smtp://, smtp+tls:// or smtps:// user:password@host:port | the sandbox outbox |
| AVAL_MAIL_FROM | the sender's address | aval@ and the host of AVAL_URL |
| OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_MODEL | the model's endpoint | the rehearsal model |
| AVAL_REHEARSAL_SCRIPT | a scenario that the rehearsal model plays, for tests | none |
| AVAL_AGENT_TURNS | turns that one agent process runs at the same time | 400 |
| AVAL_LEASE_SECONDS | seconds after which work of a process that fell silent is taken up | 30 |
| AVAL_QUEUE_WORKERS, AVAL_QUEUE_POLL | the worker's processes; seconds between two looks unasked | 2; 0.25 |
| AVAL_QUEUE_TIMEOUT, AVAL_QUEUE_RETRY | seconds a task may take; until it comes again | 90; 120 |
| AVAL_SIGNING_KEY | signs exports: 32 bytes in base64 (`manage.py signing_key --new`) | derived from SECRET_KEY |
| AVAL_METRICS_TOKEN | opens /metrics to Prometheus (bearer token, 20 characters or more) | /metrics is not there |
| AVAL_LOG_LEVEL | DEBUG, INFO, WARNING, ERROR | INFO |

A server that is half configured does not start: it says in one line what is missing.
"""

import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from csp.constants import NONCE, NONE, SELF
from django.utils.translation import gettext_lazy as _

from ledger import embedded
from ledger.environment import Environment, connection, database, development_key, mail, owner_database
from ledger.logs import RedactSecrets

BASE_DIR = Path(__file__).resolve().parent.parent
env = Environment(os.environ)

# The installation

DATA_DIR = Path(env.text("AVAL_DATA_DIR", str(BASE_DIR / "var"))).expanduser().resolve()
_HOSTS = env.words("AVAL_HOSTS") or env.words("ALLOWED_HOSTS")
DEBUG = env.flag("DEBUG", not (env.text("SECRET_KEY") or env.text("DATABASE_URL") or _HOSTS))
PORT = env.number("PORT", 8000)
AVAL_PROCESS = env.choice("AVAL_PROCESS", ("web", "agent", "worker", "migrate", "command"), "command")

if DEBUG:
    SECRET_KEY = env.text("SECRET_KEY") or development_key(DATA_DIR)
    ALLOWED_HOSTS = _HOSTS or ["localhost", "127.0.0.1", "[::1]"]
    AVAL_URL = env.text("AVAL_URL", f"http://localhost:{PORT}").rstrip("/")
else:
    SECRET_KEY = env.required("SECRET_KEY", "production needs a key of its own (50 random characters)")
    if len(SECRET_KEY) < 50:
        env.refuse("SECRET_KEY", f"has {len(SECRET_KEY)} characters; production needs 50 or more, at random")
    ALLOWED_HOSTS = _HOSTS or [env.required("AVAL_HOSTS", "production needs to know the names it answers to")]
    AVAL_URL = env.text("AVAL_URL", f"https://{ALLOWED_HOSTS[0].lstrip('.')}").rstrip("/")
HTTPS = env.web_address("AVAL_URL", AVAL_URL).scheme == "https"

INSTALLED_APPS = [
    "ledger",
    "assistant",
    "channels",
    "channels_postgres",
    "rest_framework",
    "django_htmx",
    "django_q",
    "pgtrigger",
    "csp",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "ledger.static.StaticFilesMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "ledger.middleware.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "ledger.middleware.TenantMiddleware",
]
ROOT_URLCONF = "ledger.urls"
ASGI_APPLICATION = "ledger.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "django.template.context_processors.i18n",
                "csp.context_processors.nonce",
                "assistant.doors.sidebar.desk",
            ]
        },
    }
]

# The database. Web and agent keep a pool, which would not survive the worker's fork: that has plain connections.

_DATABASE_URL = env.text("DATABASE_URL") or (
    embedded.url(DATA_DIR) if DEBUG else env.required("DATABASE_URL", "production needs a PostgreSQL of its own")
)
_DIRECT_URL = env.text("DATABASE_DIRECT_URL", _DATABASE_URL)
_BEHIND_BOUNCER = _DIRECT_URL != _DATABASE_URL
DATABASE_DIRECT_URL = _DIRECT_URL
_POOL = env.number("AVAL_DATABASE_POOL", 16) if AVAL_PROCESS in ("web", "agent") else 0
DATABASES: dict[str, dict[str, Any]] = {
    "default": database("DATABASE_URL", _DATABASE_URL, pool=_POOL, behind_bouncer=_BEHIND_BOUNCER)
}
_owner = owner_database(env.text("DATABASE_OWNER_URL"), DATABASES["default"])
DATABASE_RUNTIME_ROLE = DATABASES["default"]["USER"] if _owner and AVAL_PROCESS == "migrate" else ""
if DATABASE_RUNTIME_ROLE:
    DATABASES["default"] = _owner
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "ledger.User"

# The channel layer carries ids and frames of text between agent, worker and web.

REDIS_URL = env.text("REDIS_URL")
if REDIS_URL and not REDIS_URL.startswith(("redis://", "rediss://", "unix://")):
    env.refuse("REDIS_URL", "must start with redis://, rediss:// or unix://")
if REDIS_URL:
    CHANNEL_LAYERS: dict[str, dict[str, Any]] = {
        "default": {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": {"hosts": [REDIS_URL]}}
    }
else:
    _direct = connection("DATABASE_DIRECT_URL", _DIRECT_URL)
    CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "assistant.layer.NotifyLayer",
            "CONFIG": {
                **{key: _direct[key] for key in ("NAME", "USER", "PASSWORD", "HOST", "PORT", "OPTIONS")},
                "PSYCOPG_OPTIONS": {"min_size": 1, "max_size": 4, "name": "channel layer"},
            },
        }
    }

# The queue: the broker's row commits or rolls back with the decision that asked for the task; nothing else is kept.

Q_CLUSTER: dict[str, Any] = {
    "name": "aval",
    "label": _("Queue"),
    "orm": "default",
    "broker_class": "ledger.broker.DatabaseClockBroker",
    "workers": env.number("AVAL_QUEUE_WORKERS", 2),
    "poll": env.seconds("AVAL_QUEUE_POLL", 0.25),
    "timeout": env.number("AVAL_QUEUE_TIMEOUT", 90),
    "retry": env.number("AVAL_QUEUE_RETRY", 120),
    "save_limit": -1,
    "ack_failures": True,
    "catch_up": False,
    "bulk": 1,
    "log_level": env.text("AVAL_LOG_LEVEL", "INFO"),
}

# Mail and the model

EMAIL_URL = env.text("EMAIL_URL")
_mail = mail(EMAIL_URL)
EMAIL_BACKEND, EMAIL_HOST, EMAIL_PORT = _mail.backend, _mail.host, _mail.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _mail.user, _mail.password
EMAIL_USE_TLS, EMAIL_USE_SSL, EMAIL_TIMEOUT = _mail.starttls, _mail.tls, 20
DEFAULT_FROM_EMAIL = env.text("AVAL_MAIL_FROM", f"aval@{urlsplit(AVAL_URL).hostname}")

OPENAI_BASE_URL = env.text("OPENAI_BASE_URL")
OPENAI_API_KEY = env.text("OPENAI_API_KEY")
OPENAI_MODEL = env.text("OPENAI_MODEL")
if (OPENAI_API_KEY or OPENAI_BASE_URL) and not OPENAI_MODEL:
    env.refuse("OPENAI_MODEL", "is not set, but an endpoint or a key is: name the model to use")
if OPENAI_MODEL and not (OPENAI_API_KEY or OPENAI_BASE_URL):
    env.refuse(
        "OPENAI_API_KEY", "is not set, but OPENAI_MODEL is: give a key, or OPENAI_BASE_URL for a server without one"
    )
if OPENAI_BASE_URL:
    env.web_address("OPENAI_BASE_URL", OPENAI_BASE_URL)
# Pages say plainly that the rehearsal model answers, and the agent starts it.
AVAL_REHEARSAL = not (OPENAI_BASE_URL or OPENAI_API_KEY)
AVAL_REHEARSAL_SCRIPT = env.text("AVAL_REHEARSAL_SCRIPT")
AVAL_AGENT_TURNS = env.number("AVAL_AGENT_TURNS", 400)

# Words and times

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("pt-br", _("Portuguese (Brazil)"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

# Files

STATIC_URL = "static/"
STATIC_ROOT = None if DEBUG else BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_ALLOW_ALL_ORIGINS = False
_STATIC_STORAGE = "django.contrib.staticfiles.storage.StaticFilesStorage"
_MANIFEST_STORAGE = "whitenoise.storage.CompressedManifestStaticFilesStorage"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": _STATIC_STORAGE if DEBUG else _MANIFEST_STORAGE},
}

# Safety

PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]
SESSION_ENGINE = "ledger.sessions"
AUTHENTICATION_BACKENDS = ["ledger.sessions.Backend"]
LOGIN_URL = "/login/"
LOGIN_REDIRECT_URL = "/c/"
LOGOUT_REDIRECT_URL = "/login/"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
CSRF_TRUSTED_ORIGINS = [AVAL_URL]
CSRF_FAILURE_VIEW = "ledger.views.stale_form.refused"
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.flag("AVAL_TRUST_PROXY", False) else None
X_FRAME_OPTIONS = "DENY"
# Preloading binds the whole domain for years: its owner's decision, not this program's.
SILENCED_SYSTEM_CHECKS = ["security.W021"]
AVAL_SIGNING_KEY = env.key("AVAL_SIGNING_KEY", 32)
AVAL_METRICS_TOKEN = env.text("AVAL_METRICS_TOKEN")
if AVAL_METRICS_TOKEN and len(AVAL_METRICS_TOKEN) < 20:
    env.refuse("AVAL_METRICS_TOKEN", f"has {len(AVAL_METRICS_TOKEN)} characters; it needs 20 or more, at random")
AVAL_LEASE_SECONDS = env.number("AVAL_LEASE_SECONDS", 30)
AVAL_MAX_BODY = 12 * 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 500
DATA_UPLOAD_MAX_NUMBER_FILES = 20
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.SessionAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
}

# The log

_SECRETS = [SECRET_KEY, OPENAI_API_KEY, EMAIL_HOST_PASSWORD, _owner.get("PASSWORD", ""), env.text("AVAL_SIGNING_KEY")]
_SECRETS += [AVAL_METRICS_TOKEN, *(d["PASSWORD"] for d in DATABASES.values())]
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"redact": {"()": RedactSecrets, "secrets": _SECRETS}},
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["redact"], "stream": sys.stderr}
    },
    "root": {"handlers": ["console"], "level": env.text("AVAL_LOG_LEVEL", "INFO")},
    "loggers": {
        "django": {"handlers": [], "propagate": True},
        "django.server": {"handlers": [], "propagate": True},
        "daphne": {"level": "WARNING"},
    },
}
