"""What tracing costs: ``python -m tests.bench.bench_trace`` prints one JSON object.

``open_*``: 20,000 opens of one file in Python behind bubblewrap, microseconds per open and close,
best of five. ``decode_*``: one million trace lines through the strict reader.
"""

from __future__ import annotations

import io
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from gate.tracing.codec import TraceReader
from tests.integration.launching import python

_OPENS = """
import os, time
start = time.perf_counter()
for _ in range(20000): os.close(os.open("/etc/hostname", os.O_RDONLY))
print((time.perf_counter() - start) / 20000 * 1e6)
"""


def opens(folder: Path, *, trace: bool) -> float:
    """Microseconds per open and close, best of five sandboxes."""
    return min(float(python(folder, _OPENS, trace=trace).heard.stdout) for _ in range(5))


class _Lines(io.RawIOBase):
    """A million lines that are never in memory at once."""

    def __init__(self, count: int) -> None:
        self.left = count
        self.seq = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        if not self.left:
            return 0
        path = f"/usr/lib/python3.11/site-packages/package/module_{self.seq % 5000}.py"
        line = f'{{"seq":{self.seq},"t":1.5,"ev":"open","pid":77,"call":"openat",'
        line += f'"path":"{path}","access":"r"}}\n'
        self.left -= 1
        self.seq += 1
        data = line.encode()
        buffer[: len(data)] = data
        return len(data)


def decode(count: int) -> dict[str, float]:
    """Seconds for ``count`` events (making the lines is taken off) and peak memory of this process."""
    start = time.perf_counter()
    for _ in io.BufferedReader(_Lines(count), 1 << 16):
        pass
    making = time.perf_counter() - start
    start = time.perf_counter()
    for _ in TraceReader(io.BufferedReader(_Lines(count), 1 << 16)):
        pass
    seconds = time.perf_counter() - start - making
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"decode_seconds_per_million": round(seconds * 1e6 / count, 2), "peak_mib": round(peak, 1)}


def main() -> int:
    """Print the figures."""
    figures = decode(1_000_000)
    with tempfile.TemporaryDirectory() as name:
        plain, traced = opens(Path(name), trace=False), opens(Path(name), trace=True)
    figures |= {
        "open_us_untraced": round(plain, 2),
        "open_us_traced": round(traced, 2),
        "open_us_added": round(traced - plain, 2),
        "open_ratio": round(traced / plain, 1),
    }
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
