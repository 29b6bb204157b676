"""The child of limited_child.scan_isolated: ``python -I -m gate.languages.child_worker``.

Reads one JSON line (function, per_file, options), then frames: a line ``index path-length
data-length``, then path and data. Writes one JSON line when it begins a file and one when it has ended it.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import warnings
from typing import Any

import msgspec

UNKNOWN_SYNTAX = "not the syntax of Python {}.{}, on which gate runs".format(*sys.version_info)
"""What this Python cannot parse may be right in a newer one."""
_LARGE = 1 << 20
_PATIENCE, _LARGE_PATIENCE = 6.0, 4.0
"""Wall time for each second of processor time a file may take: a busy machine is not held against a file."""
_MORE_FOR_MIB = 4.0
"""Shares of time that each MiB of a file adds: some 10 s of rules for a MiB of ordinary code."""


def share(per_file: float, size: int) -> float:
    """Seconds of processor time for a file of ``size`` bytes, where a small one gets ``per_file``."""
    return per_file * (1.0 + _MORE_FOR_MIB * size / (1 << 20))


def main() -> int:
    """Serve files until standard input ends."""
    source = sys.stdin.buffer
    # Whatever the code we call prints must not be taken for our answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    head = msgspec.json.decode(source.readline())
    module, _, name = head["function"].partition(":")
    function = getattr(importlib.import_module(module), name)
    for end in (signal.SIGALRM, signal.SIGPROF):  # the kernel ends us even inside C code
        signal.signal(end, signal.SIG_DFL)
    while line := source.readline():
        index, path_length, length = (int(word) for word in line.split())
        path = source.read(path_length).decode("utf-8", "surrogateescape")
        data = source.read(length)
        answers.write(b'{"index":%d,"state":"begun"}\n' % index)
        answers.flush()
        seconds = share(head["per_file"], length)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, seconds * (_LARGE_PATIENCE if length > _LARGE else _PATIENCE))
        answer = _answer(function, index, path, data, head["options"])
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        answers.write(answer + b"\n")
        answers.flush()
    return 0


def _answer(function: Any, index: int, path: str, data: bytes, options: Any) -> bytes:
    try:
        value = function(path, data, options)
        answer = {"index": index, "state": "done", "value": value}
        try:
            raw = msgspec.json.encode(answer)
        except UnicodeEncodeError:  # a path that is not UTF-8: the standard library escapes its surrogates
            raw = json.dumps(msgspec.to_builtins(answer)).encode()
    except MemoryError:
        return (
            b'{"index":%d,"state":"out-of-memory","reason":"needed more memory than a file may take"}' % index
        )
    except SyntaxError as error:
        reason = f"SyntaxError in line {error.lineno}: {UNKNOWN_SYNTAX}"
        return msgspec.json.encode({"index": index, "state": "crashed", "reason": reason})
    except Exception as error:  # noqa: BLE001 - the file's failure is the answer
        # The type only: an exception's text can quote the file.
        where = error.__traceback__
        while where is not None and where.tb_next is not None:
            where = where.tb_next
        place = f"{os.path.basename(where.tb_frame.f_code.co_filename)}:{where.tb_lineno}" if where else ""  # noqa: PTH119
        reason = f"{type(error).__name__} at {place}"
        return msgspec.json.encode({"index": index, "state": "crashed", "reason": reason})
    return raw


if __name__ == "__main__":
    sys.exit(main())
