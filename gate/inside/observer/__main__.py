"""Start one supervisor: ``python3 -I <folder> (--fd N | --socket PATH) --token HEX [--out FILE] ...``,
or, with ``--strace FIFO``, one reader of what strace writes.

Writes the trace to stdout or a file. Exit 0: the sandbox ended and the trace has its summary;
1: it has a summary that says otherwise; 2: no launcher came.
"""

from __future__ import annotations

import argparse
import importlib
import os
import resource
import socket
import sys

if __package__:
    from . import handover, supervisor
else:  # started as a folder, outside the project
    _here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, os.path.dirname(_here))
    handover = importlib.import_module(os.path.basename(_here) + ".handover")
    supervisor = importlib.import_module(os.path.basename(_here) + ".supervisor")


def main(argv: list[str]) -> int:
    """Run one supervisor to its end."""
    options = _options(argv)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 65536)), hard))
    handover.stop_on_term()
    out = 1
    try:
        if options.out != "-":
            out = os.open(options.out, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        link = _link(options)
        if options.strace:
            return _read_strace(options, link, out)
        listener = handover.receive_listener(link, bytes.fromhex(options.token))
    except (OSError, handover.StoppedError) as error:
        print(f"observer: {error or 'stopped'}", file=sys.stderr)
        return 2
    link.settimeout(None)
    watch = supervisor.Supervisor(listener, out, link=link, events=options.events, canaries=options.canary)
    return 0 if watch.run(options.deadline) == "exited" else 1


def _read_strace(options: argparse.Namespace, link: socket.socket, out: int) -> int:
    """Turn what strace writes into the trace. The FIFO opens when strace opens it."""
    # only here: its patterns are a sixth of what every other supervisor would need to start
    strace_reader = importlib.import_module(handover.__name__.rpartition(".")[0] + ".strace_reader")
    source = os.open(options.strace, os.O_RDONLY | os.O_CLOEXEC)
    token = bytes.fromhex(options.token)
    reader = strace_reader.Reader(out, link=link, token=token, events=options.events, canaries=options.canary)
    return 0 if reader.run(source) == "exited" else 1


def _options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="observer")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--fd", type=int, help="an inherited, connected Unix socket")
    where.add_argument("--socket", help="a Unix socket to make, wait at, and remove once the launcher came")
    parser.add_argument("--token", required=True, help="hex; what the launcher must say first")
    parser.add_argument("--out", default="-", help="a new file for the trace; - is stdout")
    parser.add_argument("--events", type=int, default=1_000_000, help="lines of each cheap kind kept")
    parser.add_argument("--canary", action="append", default=[], help="a path whose reading ends the run")
    parser.add_argument("--strace", default="", help="read strace's output from this FIFO instead")
    parser.add_argument("--wait", type=float, default=60.0, help="seconds to wait for the launcher")
    parser.add_argument("--deadline", type=float, default=None, help="seconds after which to stop")
    return parser.parse_args(argv)


def _link(options: argparse.Namespace) -> socket.socket:
    if options.fd is not None:
        link = socket.socket(fileno=options.fd)
        link.settimeout(options.wait)
        return link
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(options.socket)
        try:
            os.chmod(options.socket, 0o666)  # the sandbox's user is another one; the token says who is who
            server.listen(1)
            server.settimeout(options.wait)
            link, _ = server.accept()
        finally:
            os.unlink(options.socket)
    link.settimeout(options.wait)
    return link


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
