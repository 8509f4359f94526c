"""What the log must not hold."""

import logging
import re

MASK = "***"
_TOKEN_IN_PATH = re.compile(r"(/(?:q|i|p)/)[^/\s\"']{8,}")
_PASSWORD_IN_URL = re.compile(r"(\w+://[^:/@\s]*:)[^@\s]+(@)")


class RedactSecrets(logging.Filter):
    """Masks the keys it was given, passwords inside URLs and the tokens of public pages, in message and traceback."""

    def __init__(self, secrets: list[str]) -> None:
        super().__init__()
        self.secrets = [secret for secret in secrets if len(secret) >= 6]

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = self.masked(record.getMessage())
        record.args = None
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = self.masked(record.exc_text)
        return True

    def masked(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, MASK)
        return _PASSWORD_IN_URL.sub(rf"\1{MASK}\2", _TOKEN_IN_PATH.sub(rf"\1{MASK}", text))
