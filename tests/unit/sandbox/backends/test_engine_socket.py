"""Connections to an engine that is not there leave no socket to the garbage collector."""

from __future__ import annotations

import contextlib
import gc
import socket
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from gate.errors import InconclusiveError
from gate.sandbox.backends.container import engine


@pytest.mark.parametrize("kind", ["missing", "refused", "silent"])
@pytest.mark.slow
def test_no_socket_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    place = tmp_path / "s.sock"
    left: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda told: left.append(told.exc_value))
    with contextlib.ExitStack() as stack, warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        if kind != "missing":
            server = stack.enter_context(socket.socket(socket.AF_UNIX))
            server.bind(str(place))
            if kind == "silent":
                server.listen()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{place}")
        with pytest.raises(InconclusiveError) as told:
            engine.connect(deadline=1.0)
        with (
            contextlib.closing(
                engine.Engine(base_url=f"unix://{place}", version=engine.ANY_API, timeout=1)
            ) as client,
            contextlib.suppress(*engine.API_ERRORS),
        ):
            client.ping()
        message = told.value.message
        del told
        gc.collect()
    assert left == []
    why = {"missing": "No such file or directory", "refused": "Connection refused", "silent": "timed out"}
    assert why[kind] in message
