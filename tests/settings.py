"""Settings of a test process: the form of production, nothing from the developer's own environment.

Every process of a run (the workers of xdist too) finds the run's server in DATABASE_URL_TEST; the first one starts a
throw-away server where that isn't given. Each has a database of its own, which tests/database.py makes on first use.
"""

import os
from urllib.parse import urlsplit

from tests import server

OF_THE_DEVELOPER = (
    "ALLOWED_HOSTS AVAL_AGENT_TURNS AVAL_DATABASE_POOL AVAL_DATA_DIR AVAL_LEASE_SECONDS AVAL_MAIL_FROM AVAL_PROCESS "
    "AVAL_QUEUE_RETRY AVAL_QUEUE_TIMEOUT AVAL_QUEUE_WORKERS AVAL_REHEARSAL_SCRIPT AVAL_TRUST_PROXY "
    "AVAL_METRICS_TOKEN DATABASE_DIRECT_URL DATABASE_OWNER_URL EMAIL_URL OPENAI_API_KEY OPENAI_BASE_URL OPENAI_MODEL "
    "PORT REDIS_URL"
)
for _name in OF_THE_DEVELOPER.split():
    os.environ.pop(_name, None)
if not os.environ.get("DATABASE_URL_TEST"):
    os.environ["DATABASE_URL_TEST"] = server.start()

DATABASE = f"aval_test_{server.run_id()}_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
os.environ |= {
    "DEBUG": "0",
    "SECRET_KEY": "only-for-tests-" + "k" * 50,
    "AVAL_HOSTS": "localhost,127.0.0.1,testserver",
    "AVAL_URL": "http://testserver",
    "AVAL_LOG_LEVEL": "WARNING",
    "DATABASE_URL": urlsplit(os.environ["DATABASE_URL_TEST"])._replace(path=f"/{DATABASE}").geturl(),
}

from tests.settings_processes import *  # noqa: E402, F403
