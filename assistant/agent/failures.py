"""What can go wrong between us and the model's endpoint, one class for each thing the loop treats
differently.
"""

from __future__ import annotations


class ModelError(Exception):
    """The model gave no usable reply. `code` is stable and safe to store; the message is for the log.

    `retryable` says that the same request may succeed later. The client has already retried as often as it
    may when this reaches a caller.
    """

    def __init__(self, code: str, message: str = "", *, retryable: bool = False) -> None:
        super().__init__(message or code)
        self.code = code
        self.retryable = retryable


class ModelRateLimited(ModelError):
    """Too many requests, or a quota is used up. `retry_after` is in seconds, where the endpoint gave it."""

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        code: str = "rate_limited",
        retryable: bool = True,
    ) -> None:
        super().__init__(code, message, retryable=retryable)
        self.retry_after = retry_after


class ModelUnavailable(ModelError):
    """The endpoint can't be reached, is broken, or does not accept our credentials.

    Codes: `connection`, `timeout`, `server`, `credentials`, `not_found`, `not_a_model`.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        retryable: bool = True,
    ) -> None:
        super().__init__(code, message, retryable=retryable)
        self.status = status
        self.retry_after = retry_after


class ModelRejectedRequest(ModelError):
    """The endpoint says that our request is wrong; sending it again cannot help.

    `code` is `too_long` when the history does not fit the model's context, else `rejected`.
    """

    def __init__(self, message: str, *, status: int | None = None, code: str = "rejected") -> None:
        super().__init__(code, message)
        self.status = status


class ModelRefused(ModelError):
    """The model or a content filter declined. `refusal` is the model's own sentence, `text` what it had said
    before.
    """

    def __init__(self, *, text: str = "", refusal: str = "") -> None:
        super().__init__("refused", refusal or "refused by the model or its content filter")
        self.text = text
        self.refusal = refusal


class ModelInterrupted(ModelError):
    """The stream ended without a proper end: nothing of it may run (case H39). `text` is what was said until
    then.

    Reasons (`code`): `cut`, `silent`, `too_long`, `damaged`, `too_large`, `error`.
    """

    def __init__(self, code: str, message: str = "", *, text: str = "", retryable: bool = False) -> None:
        super().__init__(code, message, retryable=retryable)
        self.text = text
