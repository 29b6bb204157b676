"""Looks at a change as the App: fetches its two commits into a bare clone, then runs `gate check` on it.

The look is a process of its own that holds no token and no key; nothing is checked out.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from gate.change.event import parse_event
from gate.dataclass import dataclass
from gate.errors import Exit, InconclusiveError, UsageError
from gate.escape import visible
from gate.github.interface import repository
from gate.process import Done, run
from gate.report.v1 import MAX_BYTES

_FETCH_SECONDS: Final = 600.0
_KEEP_CLONE: Final = 7 * 24 * 3600.0
"""Seconds after which a clone is made anew: objects of commits that are gone would stay for ever."""
_HANDED_ON: Final = ("HOME", "DOCKER_HOST", "XDG_", "TMPDIR", "GATE_IMAGE_", "GATE_SANDBOX_")
"""Beginnings of the names of variables that a look is given: none is a secret of the server's."""
_SAYS: Final = 400


@dataclass(frozen=True, kw_only=True)
class Looker:
    """``folder``: clones, on a local disk. ``server``: where repositories are fetched from.

    ``options``: further words for `gate check`; ``seconds``: what one look may take.
    """

    folder: Path
    server: str
    options: Sequence[str] = ()
    seconds: float = 1_800.0

    def look(self, repo: str, token: str, event: bytes) -> bytes:
        """report.json about the two commits that the event (a payload of GitHub's) names.

        Raises UsageError (nothing can be judged, and why) or InconclusiveError (not now).
        """
        told = parse_event(event)
        if told.base is None:
            raise UsageError("the event names no base")
        with self._clone(repo) as clone, tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            self._fetch(clone, repo, token, (told.base, told.head))
            names = Path(scratch) / "event.json", Path(scratch) / "report.json"
            names[0].write_bytes(event)
            done = self._check(clone, *names)
            return _report(names[1], done)

    @contextlib.contextmanager
    def _clone(self, repo: str) -> Iterator[Path]:
        """The bare clone of a repository; looks share it; one that finds it alone renews an old one."""
        repository(repo)
        place = self.folder / hashlib.sha256(repo.lower().encode()).hexdigest()[:24]
        place.mkdir(parents=True, exist_ok=True)
        clone = place / "clone.git"
        with (place / "lock").open("a") as lock:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if clone.is_dir() and time.time() - clone.stat().st_ctime > _KEEP_CLONE:
                    shutil.rmtree(clone)
            fcntl.flock(lock, fcntl.LOCK_SH)
            if not (clone / "HEAD").is_file():
                made = run(["git", "init", "--quiet", "--bare", clone], deadline=60, env=_GIT)
                if not made.ok:
                    raise InconclusiveError(f"git init: {_words(made)}")
            yield clone

    def _fetch(self, clone: Path, repo: str, token: str, commits: Sequence[str]) -> None:
        if all(
            run(_git(clone, "cat-file", "-e", f"{c}^{{commit}}"), deadline=60, env=_GIT).ok for c in commits
        ):
            return
        scheme = {"GIT_ALLOW_PROTOCOL": self.server.partition(":")[0]}  # no redirect leads to another kind
        quietly = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
        words = _git(clone, "fetch", *quietly, f"{self.server}/{repo}.git", *commits)
        done = run(words, deadline=_FETCH_SECONDS, env=_GIT | scheme | _authority(self.server, token))
        if not done.ok:
            raise InconclusiveError(f"the commits cannot be fetched: {_words(done)}")

    def _check(self, clone: Path, event: Path, report: Path) -> Done:
        words: list[str | Path] = [sys.executable, "-m", "gate.cli", "check", "--quiet", "--repo", clone]
        words += ["--event", event, "--json", report, *self.options]
        kept = {name: value for name, value in os.environ.items() if name.startswith(_HANDED_ON)}
        return run(words, deadline=self.seconds, cwd=self.folder, env=kept, cap=1 << 20)


_GIT: Final = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
}


def _git(clone: Path, *words: str) -> list[str | Path]:
    return ["git", "-c", "gc.auto=0", "--git-dir", clone, *words]


def _authority(server: str, token: str) -> dict[str, str]:
    """The token for git, by the environment: a command line can be read by anybody on the machine.

    It goes to this server and nowhere else: git would take it along wherever a redirect leads.
    """
    pair = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    told = {f"http.{server}/.extraHeader": f"Authorization: Basic {pair}", "http.followRedirects": "false"}
    out = {"GIT_CONFIG_COUNT": str(len(told))}
    for number, (key, value) in enumerate(told.items()):
        out |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return out


def _report(file: Path, done: Done) -> bytes:
    if done.timed_out:
        raise InconclusiveError(
            "the look took too long and was ended", advice="Make a smaller change of it, or run it again."
        )
    if done.code in (Exit.OK, Exit.BLOCKED, Exit.INCONCLUSIVE) and file.is_file():
        with file.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    if done.code == Exit.USAGE:
        raise UsageError(
            f"gate could not look: {_words(done)}", advice="Mend it at base, then run the check again."
        )
    raise InconclusiveError(
        f"the look ended with {done.code}: {_words(done)}",
        advice="Run the check again.",
    )


def _words(done: Done) -> str:
    text = done.stderr.decode("utf-8", "replace").strip() or f"exit {done.code}"
    return visible(text[-_SAYS:])
