"""The door to subprocess."""

from __future__ import annotations

import fcntl
import os
import resource
import sys
import time

import pytest

from gate import process
from gate.errors import InconclusiveError


def python(code: str, **more: object) -> process.Done:
    return process.run([sys.executable, "-c", code], **({"deadline": 20.0} | more))  # type: ignore[arg-type]


def test_says_what_the_program_said() -> None:
    done = python(
        "import sys; print(sys.stdin.read().upper()); print('e', file=sys.stderr); sys.exit(3)", stdin=b"hi"
    )
    assert (done.code, done.stdout, done.stderr, done.ok) == (3, b"HI\n", b"e\n", False)


def test_feeds_more_than_a_pipe_holds() -> None:
    done = python("import sys; print(len(sys.stdin.buffer.read()))", stdin=b"x" * 3_000_000)
    assert done.ok
    assert done.stdout == b"3000000\n"


def test_a_reader_that_goes_away_is_no_error() -> None:
    assert python("pass", stdin=b"x" * 3_000_000).ok


def test_deadline_kills_the_whole_group_even_when_pipes_stay_open() -> None:
    start = time.monotonic()
    done = python(
        "import subprocess,sys; subprocess.Popen([sys.executable,'-c','import time;time.sleep(60)']); "
        "print('up',flush=True)",
        deadline=1.5,
    )
    assert done.timed_out
    assert done.stdout == b"up\n"
    assert time.monotonic() - start < 10


def test_output_past_the_cap_is_counted_as_cut() -> None:
    done = python("print('x' * 100000)", cap=1000)
    assert len(done.stdout) == 1000
    assert done.truncated
    assert not done.ok


def test_environment_is_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "s")
    monkeypatch.setenv("PYTHONSTARTUP", "/tmp/x")
    done = python("import os; print(sorted(os.environ))", env={"A": "1"})
    assert done.stdout == b"['A', 'LC_ALL', 'PATH']\n"


def test_a_missing_program_says_where_to_look() -> None:
    with pytest.raises(InconclusiveError, match="cannot start no-such-program") as error:
        process.run(["no-such-program"], deadline=1)
    assert "gate doctor" in error.value.advice


def test_limits_are_those_that_were_asked_for_and_never_more_than_ours() -> None:
    import resource

    code = (
        "import resource as r, sys; sys.stdin.read(); "
        "print(r.getrlimit(r.RLIMIT_AS)[0], r.getrlimit(r.RLIMIT_CORE))"
    )
    limits = {resource.RLIMIT_AS: 1 << 30, resource.RLIMIT_CORE: 0}
    done = process.run([sys.executable, "-c", code], deadline=20, limits=limits)
    assert done.stdout.split() == [b"1073741824", b"(0,", b"0)"]


def test_descriptors_beyond_a_thousand_are_waited_for() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2048:
        pytest.skip("no process may have so many descriptors here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2048), hard))
    out, into = os.pipe()
    high = fcntl.fcntl(out, fcntl.F_DUPFD_CLOEXEC, 1500)
    try:
        assert not process.readable(high, 0.01)
        os.write(into, b"x")
        assert process.readable(high, 5.0)
        os.close(into)
        os.read(high, 1)
        assert process.readable(high, 5.0)  # its end
    finally:
        os.close(out)
        os.close(high)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
