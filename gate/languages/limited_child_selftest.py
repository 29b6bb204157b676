"""A scanner that misbehaves on demand: what limits.py must survive. Used by tests and by `gate doctor`."""

from __future__ import annotations

import ast
import os
import signal
from collections.abc import Mapping


def behave(path: str, data: bytes, options: Mapping[str, object]) -> str:
    """Do what the file's bytes say; otherwise give the path back."""
    del options
    match data:
        case b"raise":
            raise ValueError(path)
        case b"memory":
            return "x" * (1 << 40)
        case b"kill":
            os.kill(os.getpid(), signal.SIGSEGV)
        case b"spin":
            while True:
                pass
        case b"exit":
            os._exit(7)
        case b"leave":
            os._exit(0)
        case b"print":
            os.write(1, b"noise on standard output\n")
    return path


def parse(path: str, data: bytes, options: Mapping[str, object]) -> str:
    """Parse as Python and give the root's type."""
    del path, options
    return type(ast.parse(data)).__name__


_SEEN: list[str] = []


def remember(path: str, data: bytes, options: Mapping[str, object]) -> int:
    """How many files this process has seen before."""
    del data, options
    _SEEN.append(path)
    return len(_SEEN) - 1
