"""Which endpoint is asked, and what it is known to take."""

from __future__ import annotations

import pytest
from django.test import override_settings

from assistant.agent.llm import Model
from assistant.agent.model_settings import ModelSettings

NOTHING = {"OPENAI_BASE_URL": "", "OPENAI_API_KEY": "", "OPENAI_MODEL": ""}


@override_settings(**NOTHING)
def test_without_endpoint_and_key_the_rehearsal_model_answers():
    chosen = ModelSettings.from_django(rehearsal_url="http://127.0.0.1:9/v1")
    assert (chosen.base_url, chosen.model, chosen.takes_developer) == ("http://127.0.0.1:9/v1", "rehearsal", True)
    with pytest.raises(ValueError, match="rehearsal"):
        ModelSettings.from_django()


@override_settings(**NOTHING | {"OPENAI_API_KEY": "sk-secret", "OPENAI_MODEL": "gpt-5", "OPENAI_TEMPERATURE": 0.2})
def test_a_key_alone_means_openai_and_is_never_shown():
    chosen = ModelSettings.from_django(rehearsal_url="http://127.0.0.1:9/v1")
    assert (chosen.base_url, chosen.model, chosen.temperature) == ("https://api.openai.com/v1", "gpt-5", 0.2)
    assert (chosen.takes_developer, chosen.length_parameter) == (True, "max_completion_tokens")
    assert "sk-secret" not in repr(chosen)


@override_settings(
    **NOTHING
    | {
        "OPENAI_BASE_URL": "https://x.openai.azure.com/openai/deployments/d?api-version=2024-10-21",
        "OPENAI_API_KEY": "k",
    }
)
async def test_an_azure_address_keeps_its_version_and_gets_its_own_header():
    chosen = ModelSettings.from_django()
    assert chosen.base_url == "https://x.openai.azure.com/openai/deployments/d"
    assert chosen.query == (("api-version", "2024-10-21"),)
    model = Model(chosen)
    assert (model._client.default_headers["api-key"], model._client.default_query) == (
        "k",
        {"api-version": "2024-10-21"},
    )
    await model.aclose()


@pytest.mark.parametrize(
    ("url", "loopback", "developer"),
    [
        ("http://localhost:11434/v1", True, False),
        ("http://127.0.0.1:8080/v1", True, False),
        ("http://[::1]:8080/v1", True, False),
        ("https://gateway.example/v1", False, False),
        ("https://api.openai.com/v1", False, True),
        ("https://api.openai.com.evil.example/v1", False, False),
    ],
)
def test_what_is_known_of_an_address(url: str, loopback: bool, developer: bool):
    chosen = ModelSettings(base_url=url, model="m")
    assert (chosen.loopback, chosen.takes_developer) == (loopback, developer)
    assert ModelSettings(base_url=url, model="m", developer_role=not developer).takes_developer is not developer


async def test_the_client_bounds_its_connections_and_does_not_retry_by_itself():
    model = Model(ModelSettings(base_url="https://gateway.example/v1", model="m", connections=40))
    pool = model._http._transport._pool
    assert (model._client.max_retries, pool._max_connections, pool._max_keepalive_connections) == (0, 40, 10)
    assert not model._http.follow_redirects
    await model.aclose()
