"""The web process: Channels routes by protocol, Django answers HTTP.

AVAL_PROCESS is set before Django loads its settings: the web process keeps a pool of database connections.
"""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ledger.settings")
os.environ.setdefault("AVAL_PROCESS", "web")

import django
from channels.routing import ProtocolTypeRouter

from ledger.http import BoundedASGIHandler

django.setup(set_prefix=False)

application = ProtocolTypeRouter({"http": BoundedASGIHandler()})
