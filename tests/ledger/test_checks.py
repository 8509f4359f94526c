"""The checks that a process makes of itself before it starts."""

import os
from pathlib import Path
from typing import Any
from unittest import mock

import psycopg
import pytest
from django.db import connection

from ledger import checks


def codes(found: list[Any]) -> list[str]:
    return [message.id for message in found]


@pytest.fixture
def pooled(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(settings.DATABASES["default"]["OPTIONS"], "pool", {"max_size": 4})


@pytest.mark.usefixtures("pooled")
def test_a_worker_with_a_pool_is_refused(settings: Any) -> None:
    settings.AVAL_PROCESS = "worker"
    assert codes(checks.check_worker_has_no_pool()) == ["aval.E001"]


@pytest.mark.usefixtures("pooled")
def test_the_command_counts_where_the_environment_names_another_process(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.AVAL_PROCESS = "web"
    assert codes(checks.check_worker_has_no_pool()) == []
    monkeypatch.setattr("sys.argv", ["manage.py", "qcluster"])
    assert codes(checks.check_worker_has_no_pool()) == ["aval.E001"]


@pytest.mark.parametrize(
    ("timeout", "retry", "expected"), [(90, 120, []), (600, 120, ["aval.E002"]), (90, 90, ["aval.E002"])]
)
def test_h51_a_queue_that_retries_before_a_task_can_end_is_refused(
    settings: Any, timeout: int, retry: int, expected: list[str]
) -> None:
    settings.Q_CLUSTER = settings.Q_CLUSTER | {"timeout": timeout, "retry": retry}
    assert codes(checks.check_queue_waits_for_its_tasks()) == expected


def test_a_deployment_without_compiled_translations_is_refused(settings: Any, tmp_path: Path) -> None:
    messages = tmp_path / "pt_BR" / "LC_MESSAGES"
    messages.mkdir(parents=True)
    (messages / "django.po").write_text("")
    settings.LOCALE_PATHS = [tmp_path]
    assert codes(checks.check_translations_are_compiled()) == ["aval.E003"]
    (messages / "django.mo").write_text("")
    assert codes(checks.check_translations_are_compiled()) == []


def test_a_deployment_without_collected_files_is_refused(settings: Any, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path
    assert codes(checks.check_static_files_are_collected()) == ["aval.E004"]
    (tmp_path / "staticfiles.json").write_text("{}")
    assert codes(checks.check_static_files_are_collected()) == []


def test_the_tests_own_role_is_bound_by_row_level_security() -> None:
    assert checks.check_database_guards(databases=["default"]) == []


def test_a_role_that_bypasses_row_level_security_is_refused() -> None:
    cursor = mock.MagicMock()
    cursor.__enter__.return_value.fetchone.return_value = ("postgres", True, 180000)
    with mock.patch.object(connection, "cursor", return_value=cursor):
        assert codes(checks.check_database_guards(databases=["default"])) == ["aval.E005"]


def test_an_old_server_is_refused() -> None:
    cursor = mock.MagicMock()
    cursor.__enter__.return_value.fetchone.return_value = ("aval", False, 140012)
    with mock.patch.object(connection, "cursor", return_value=cursor):
        assert codes(checks.check_database_guards(databases=["default"])) == ["aval.E006"]


def test_the_application_may_not_raise_itself(database_url: str) -> None:
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as own:
        for statement in ("ALTER ROLE aval SUPERUSER", "ALTER ROLE aval BYPASSRLS", "SET ROLE postgres"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                own.execute(statement)
