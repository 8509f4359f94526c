"""Reading variables: what is accepted, and the one line for what is not."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from ledger.environment import Environment, Mail, database, development_key, mail


def test_an_empty_variable_counts_as_not_set() -> None:
    env = Environment({"NAME": "  "})
    assert env.text("NAME", "default") == "default"
    assert env.words("NAME") == []
    assert env.flag("NAME", True) is True
    assert env.number("NAME", 7) == 7


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "ten", "²", "1e3"])
def test_a_number_that_is_none_is_refused_by_name(text: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"^PORT is .* whole number above zero"):
        Environment({"PORT": text}).number("PORT", 8000)


@pytest.mark.parametrize("text", ["nan", "inf", "0", "-0.1", "soon"])
def test_seconds_that_are_none_are_refused_by_name(text: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"^AVAL_QUEUE_POLL is"):
        Environment({"AVAL_QUEUE_POLL": text}).seconds("AVAL_QUEUE_POLL", 0.03)


def test_a_flag_knows_its_words_only() -> None:
    words = {"1": True, "Yes": True, "on": True, "0": False, "FALSE": False, "off": False}
    assert {word: Environment({"DEBUG": word}).flag("DEBUG", False) for word in words} == words
    with pytest.raises(ImproperlyConfigured, match=r"^DEBUG is 'maybe'"):
        Environment({"DEBUG": "maybe"}).flag("DEBUG", False)


def test_the_development_key_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "var"
    key = development_key(folder)
    assert len(key) >= 50
    assert development_key(folder) == key
    assert [path.name for path in folder.iterdir()] == ["secret_key"]
    assert (folder / "secret_key").stat().st_mode & 0o777 == 0o600


def test_a_data_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ImproperlyConfigured, match=r"^AVAL_DATA_DIR .* cannot be used: Not a directory"):
        development_key(tmp_path / "file" / "var")


@pytest.mark.parametrize("url", ["sqlite:///db", "mysql://h/db", "aval", "postgresql://aval@host:port/db"])
def test_only_postgresql_is_a_database_here(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"^DATABASE_URL"):
        database("DATABASE_URL", url, pool=0, behind_bouncer=False)


def test_a_pool_is_bounded_and_so_is_what_waits_for_it() -> None:
    pool = database("DATABASE_URL", "postgresql://a:b%40@h:1/x", pool=4, behind_bouncer=False)["OPTIONS"]["pool"]
    assert pool == {"min_size": 1, "max_size": 4, "max_waiting": 80, "timeout": 10}


def test_behind_a_bouncer_nothing_is_prepared_on_the_server() -> None:
    settings = database("DATABASE_URL", "postgresql://a@h/x", pool=0, behind_bouncer=True)
    assert settings["OPTIONS"]["prepare_threshold"] is None
    assert settings["DISABLE_SERVER_SIDE_CURSORS"] is True
    assert "options" not in settings["OPTIONS"], "a bouncer refuses a connection that brings settings"


def test_mail_addresses_say_how_the_line_is_protected() -> None:
    assert mail("") == Mail()
    plain = mail("smtp://relay")
    assert (plain.host, plain.port, plain.starttls, plain.tls) == ("relay", 25, False, False)
    upgraded = mail("smtp+tls://me%40aval.example:p%3Aw@relay:2525")
    assert (upgraded.user, upgraded.password, upgraded.port) == ("me@aval.example", "p:w", 2525)
    assert (upgraded.starttls, upgraded.tls) == (True, False)
    assert (mail("smtps://relay").port, mail("smtps://relay").tls) == (465, True)


@pytest.mark.parametrize("url", ["relay:25", "http://relay", "smtp://", "smtp://relay:port"])
def test_a_mail_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"^EMAIL_URL"):
        mail(url)
