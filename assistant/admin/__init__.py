"""The operator's pages on what the assistant proposed, what people decided and what ran."""

from assistant.admin import actions, alerts, turns

__all__ = ["actions", "alerts", "turns"]
