"""One question to an OpenAI-compatible endpoint: no redirect, no proxy's word, bounded in time and size."""

from __future__ import annotations

import time
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from gate.errors import UsageError
from gate.opinion.interface import Endpoint, NoAnswerError, Tokens

_MOST: Final = 1 << 20
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_REFUSES_SCHEMA: Final = (400, 404, 422)


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None


def checked(url: str) -> str:
    """The address without a slash at its end. Raises UsageError for one that code may not be sent to."""
    parts = urlsplit(url)
    plain_here = parts.scheme == "http" and parts.hostname in _LOOPBACK
    if not parts.hostname or not (parts.scheme == "https" or plain_here) or parts.username is not None:
        raise UsageError(
            "opinion.url must be https://HOST/..., or http:// on this machine",
            advice="For example https://api.openai.com/v1, or http://127.0.0.1:11434/v1 for a local model.",
        )
    return url.rstrip("/")


def answered(endpoint: Endpoint, body: dict[str, Any]) -> tuple[str, Tokens]:
    """What the model said, and its tokens. Raises NoAnswerError with the reason."""
    end = time.monotonic() + endpoint.seconds
    status, data = _post(endpoint, body, end)
    if status in _REFUSES_SCHEMA and "response_format" in body:  # an endpoint without schemas
        plain = {key: value for key, value in body.items() if key != "response_format"}
        status, data = _post(endpoint, plain, end)
    if status != 200:
        raise NoAnswerError(f"the endpoint answered with status {status}")
    try:
        said = msgspec.json.decode(data, type=_Completion)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise NoAnswerError("the endpoint's answer is no chat completion") from None
    text = said.choices[0].message.content if said.choices else None
    if not text:
        raise NoAnswerError("the model said nothing")
    used = said.usage or _Usage()
    return text, Tokens(sent=max(0, used.prompt_tokens), received=max(0, used.completion_tokens))


def _post(endpoint: Endpoint, body: dict[str, Any], end: float) -> tuple[int, bytes]:
    import requests  # a fifth of a second that only those who ask spend

    headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    try:
        with requests.post(
            f"{endpoint.url}/chat/completions",
            json=body,
            headers=headers,
            timeout=max(0.1, end - time.monotonic()),
            allow_redirects=False,
            stream=True,
        ) as response:
            data = bytearray()
            for piece in response.iter_content(1 << 14):
                data += piece
                if len(data) > _MOST or time.monotonic() > end:
                    raise NoAnswerError("the endpoint's answer is too long, or too slow")
            return response.status_code, bytes(data)
    except requests.Timeout:
        raise NoAnswerError(f"no answer within {endpoint.seconds:g} s") from None
    except requests.RequestException as error:
        raise NoAnswerError(f"the endpoint cannot be reached ({type(error).__name__})") from None
