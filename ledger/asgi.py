"""The web process: Channels routes by protocol, Django answers HTTP.

AVAL_PROCESS is set before Django loads its settings: the web process keeps a pool of database connections.
"""

import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ledger.settings")
os.environ.setdefault("AVAL_PROCESS", "web")

import django
from channels.routing import ProtocolTypeRouter
from django.core.exceptions import ImproperlyConfigured

from ledger import roles
from ledger.http import BoundedASGIHandler

try:
    django.setup(set_prefix=False)
except ImproperlyConfigured as error:
    sys.exit(f"Aval does not start: {error}")
roles.require_bound()

application = ProtocolTypeRouter({"http": BoundedASGIHandler()})
