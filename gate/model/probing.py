"""What our own probes put into functions: behaviour that only repeats it back says little.

The in-sandbox driver calls changed functions with made-up arguments (docs/probes.md). A look-up of
``HOST`` or a write below ``SCRATCH`` shows that a function uses the network or writes files when it
is *given* a place to go; it never shows a place that the change itself chose.
The same values are in gate/inside/driver/argument_values.py, which cannot import this file;
tests/unit/inside/driver/test_argument_values.py holds them together.
"""

from __future__ import annotations

from typing import Final

HOST: Final = "example.invalid"
SCRATCH: Final = "/tmp/gate-args"  # noqa: S108 - a path inside the sandbox, never on the host
WORD: Final = "gate"
COMMAND: Final = "true"
PORT: Final = 9
