"""Semgrep with our rules: its engine called directly where that works, its own command line otherwise.

The engine (semgrep-core, inside the semgrep wheel) gives the same matches as ``semgrep scan`` in a
fraction of the time (docs/prescreen.md has the figures). Files have neutral names outside any repository,
so no ignore file, git state or size limit drops one; ``nosemgrep`` is reported, never obeyed; there is no
network, no metrics, no version check, and HOME is a private folder.
"""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from gate import process
from gate.cache import active
from gate.dataclass import dataclass
from gate.errors import InconclusiveError
from gate.languages.child_worker import share
from gate.languages.limited_child import FEW, PER_FILE, limited, too_large
from gate.languages.path_roles import is_test_code
from gate.model.finding import Finding
from gate.model.rule import Severity
from gate.prescreen.interface import Prescreened, PrescreenRequest, View
from gate.prescreen.outcome import ended
from gate.prescreen.scanners.semgrep_rules import (
    merged_rules,
    rule_languages,
    semgrep_rules,
)
from gate.prescreen.scope import only_new
from gate.prescreen.views import make_views
from gate.regex import regex

ANALYZERS: Final = {
    "python": ("python",),
    "javascript": ("javascript", "js"),
    "typescript": ("typescript", "ts"),
    "shell": ("bash", "sh"),
    "dockerfile": ("dockerfile", "docker"),
    "yaml": ("yaml",),
    "json": ("json",),
}
_ANY_TEXT: Final = ("generic", "regex")
"""Rules in these 'languages' are tried on every text file, as Semgrep's own front end does."""
PER_RULE: Final = 1.5
"""Seconds one rule may spend on one file among others; then the file is tried once more, alone."""
PER_RULE_ALONE: Final = 3.0
"""Seconds one rule may spend on a file that was given up once: a busy machine is not a hostile file."""
_SECOND_TRIES: Final = 8
"""Files tried a second time; more that are given up are no accident."""
_TIMED_OUT: Final = "Semgrep gave up (Timeout)"
_START: Final = 2.0
"""Seconds of processor time for the engine's own start and the reading of the rules."""
_TIMES: Final = 2.0
"""All rules may take so many times what one scanner may for a file, in processor time."""
LARGE: Final = 2 << 20
"""Bytes from which a file gets an engine run of its own."""
MEMORY_MIB: Final = 500
_NOSEM: Final = regex(r"\bnosem(?:grep)?\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """One match: rule id, neutral file, lines of the text (1-based, inclusive)."""

    rule: str
    file: str
    first: int
    last: int
    ignored: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Matches:
    """What one run of the engine gave; ``gave_up`` maps a neutral file to the reason."""

    matches: tuple[Match, ...]
    gave_up: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class ScanTarget:
    """One file for one analyzer. ``project_path`` is what ``paths:`` of a rule is matched with."""

    file: Path
    project_path: str
    analyzer: str


class Semgrep:
    """Our Semgrep rules over every text file of the change."""

    name: str = "semgrep"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Look at every file some rule is for, head and base; report what only head has."""
        until = time.monotonic() + request.deadline
        views = make_views(request)
        by_file = {str(view.file): view for view in views.all}
        heads = views.of(side="head", parts=True)
        together = len(heads) <= FEW
        targets = [t for view in (views.all if together else heads) for t in _targets(view)]
        if not targets:
            return ended(self.name, ())
        result = run_engine(targets, request.scratch, request.deadline, request.pace)
        matches, gave_up = list(result.matches), dict(result.gave_up)
        if not together:
            # Only where head has something can base take it away.
            suspects = {by_file[match.file].path for match in matches}
            olds = [view for view in views.of(side="base", parts=True) if view.source.path in suspects]
            if olds:
                left = max(1.0, until - time.monotonic())
                old = run_engine([t for v in olds for t in _targets(v)], request.scratch, left, request.pace)
                matches += old.matches
                gave_up |= old.gave_up
        found: dict[str, list[Finding]] = {"head": [], "base": []}
        for match in matches:
            view = by_file[match.file]
            found[view.side].append(_finding(view, match))
        unlooked = [
            (by_file[file].path, reason) for file, reason in gave_up.items() if by_file[file].side == "head"
        ]
        unread = [by_file[file].path for file in gave_up if by_file[file].side == "base"]
        new = only_new(found["head"], found["base"], request.change, unread_base=unread)
        return ended(self.name, new, unlooked)


def run_engine(targets: Sequence[ScanTarget], scratch: Path, deadline: float, pace: float = 1.0) -> Matches:
    """Run the engine over the targets, by the door that the probe found to work. ``pace``: how many times
    as long as usual one file may take.

    Raises InconclusiveError when no door works. A crash costs only the file that caused it.
    """
    known, asked = _known(targets)
    if not asked:
        return known
    found = _looked(asked, scratch, deadline, pace)
    _keep(asked, found)
    return _joined((known, found))


def _looked(targets: Sequence[ScanTarget], scratch: Path, deadline: float, pace: float) -> Matches:
    """As run_engine, with nothing known before."""
    rules = scratch / "semgrep-rules.json"
    if not rules.exists():
        rules.write_bytes(merged_rules())
    core = core_path()
    if core is not None and (found := _by_probed(core, targets, rules, scratch, deadline, pace)) is not None:
        return found
    from gate.prescreen.scanners.semgrep_cli import by_front

    return by_front(targets, rules, scratch, deadline)


def _by_probed(
    core: Path, targets: Sequence[ScanTarget], rules: Path, scratch: Path, deadline: float, pace: float
) -> Matches | None:
    """What the engine gives, None where the probe says that it does not work. The probe takes as long as a
    small change: both run side by side.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="semgrep-probe") as beside:
        right = beside.submit(works, core)
        try:
            found = _apart(core, targets, rules, scratch, deadline, pace)
        except InconclusiveError:
            if right.result():
                raise
            return None
        return found if right.result() else None


def _known(targets: Sequence[ScanTarget]) -> tuple[Matches, list[ScanTarget]]:
    """What was said of files before, and the targets that are still to be looked at: a rule sees one file."""
    store = active.current()
    if store is None:
        return Matches(matches=(), gave_up={}), list(targets)
    kept = {file: store.get("file", _name(file, mine)) for file, mine in _by_file(targets).items()}
    matches = [
        replace(match, file=str(file))
        for file, raw in kept.items()
        if raw is not None
        for match in msgspec.json.decode(raw, type=tuple[Match, ...])
    ]
    left = [target for target in targets if kept[target.file] is None]
    return Matches(matches=tuple(matches), gave_up={}), left


def _keep(targets: Sequence[ScanTarget], found: Matches) -> None:
    """Keep what was said of each file that was looked at to its end."""
    store = active.current()
    if store is None:
        return
    for file, mine in _by_file(targets).items():
        if str(file) not in found.gave_up:
            told = tuple(replace(match, file="") for match in found.matches if match.file == str(file))
            store.put("file", _name(file, mine), msgspec.json.encode(told))


def _by_file(targets: Sequence[ScanTarget]) -> dict[Path, list[ScanTarget]]:
    files: dict[Path, list[ScanTarget]] = {}
    for target in targets:
        files.setdefault(target.file, []).append(target)
    return files


def _name(file: Path, targets: Sequence[ScanTarget]) -> bytes:
    """What the engine sees of a file: where it stands in the project, as what it is read, and its content."""
    told = [[target.project_path, target.analyzer] for target in targets]
    return b"semgrep\0" + json.dumps(told).encode() + b"\0" + file.read_bytes()


def _apart(
    core: Path, targets: Sequence[ScanTarget], rules: Path, scratch: Path, deadline: float, pace: float
) -> Matches:
    """All files in one run, each large one alone under a deadline: parsing cannot be timed from inside."""
    until = time.monotonic() + deadline
    large: dict[Path, list[ScanTarget]] = {}
    small: list[ScanTarget] = []
    for target in targets:
        big = target.file.stat().st_size > LARGE
        (large.setdefault(target.file, []) if big else small).append(target)
    parts = [_by_core(core, small, rules, scratch, deadline, per_rule=pace * PER_RULE)] if small else []
    for file, alone in large.items():
        left = until - time.monotonic()
        refused = too_large(file.stat().st_size)
        if refused and any(target.analyzer not in _ANY_TEXT for target in alone):
            parts.append(Matches(matches=(), gave_up={str(file): refused}))
        elif left <= 0:
            parts.append(Matches(matches=(), gave_up={str(file): "Semgrep's deadline passed"}))
        else:
            most = _processor_time(file)
            parts.append(_by_core(core, alone, rules, scratch, left, per_rule=pace * PER_RULE, cpu=most))
    return _again(core, _joined(parts), targets, rules, scratch, until, pace)


def _joined(parts: Sequence[Matches]) -> Matches:
    return Matches(
        matches=tuple(match for part in parts for match in part.matches),
        gave_up={file: why for part in parts for file, why in part.gave_up.items()},
    )


def _again(
    core: Path,
    first: Matches,
    targets: Sequence[ScanTarget],
    rules: Path,
    scratch: Path,
    until: float,
    pace: float,
) -> Matches:
    """The same, with the few files that a rule ran out of time on looked at once more, each alone."""
    late = [file for file, why in first.gave_up.items() if why == _TIMED_OUT][:_SECOND_TRIES]
    parts = [first]
    for file in late:
        left = until - time.monotonic()
        if left <= 0:
            break
        alone = [target for target in targets if str(target.file) == file]
        most = _processor_time(Path(file))
        parts.append(_by_core(core, alone, rules, scratch, left, per_rule=pace * PER_RULE_ALONE, cpu=most))
    told = dict.fromkeys(match for part in parts for match in part.matches)
    gave_up = {**first.gave_up}
    for file, part in zip(late, parts[1:], strict=False):
        del gave_up[file]
        gave_up |= part.gave_up
    return Matches(matches=tuple(told), gave_up=gave_up)


def _processor_time(file: Path) -> float:
    """Seconds that the engine may compute for a file alone: its neighbours on the machine do not count."""
    return _START + _TIMES * share(PER_FILE, file.stat().st_size)


def core_path() -> Path | None:
    """The engine's binary inside the installed wheel, or None."""
    import importlib.util

    spec = importlib.util.find_spec("semgrep")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "bin" / "semgrep-core"
    return path if path.is_file() else None


@cache
def works(core: Path) -> bool:
    """The probe: the engine finds what it must in a file of ours. That it does is kept for this very file."""
    store, found = active.current(), core.stat()
    told = (str(core), found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    name = b"semgrep works\0" + repr(told).encode()
    if store is not None and store.get("program", name) is not None:
        return True
    right = _finds_what_it_must(core)
    if store is not None and right:
        store.put("program", name, b"1")
    return right


def _finds_what_it_must(core: Path) -> bool:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="gate-semgrep-") as folder:
        place = Path(folder)
        sample = place / "000000.py"
        sample.write_text("look(1)\nother(2)  # nosemgrep\n")
        rule = {
            "id": "probe",
            "languages": ["python"],
            "severity": "INFO",
            "message": "m",
            "pattern": "look(...)",
        }
        rules = place / "rules.json"
        rules.write_text(json.dumps({"rules": [rule]}))
        target = ScanTarget(file=sample, project_path="/sample.py", analyzer="python")
        try:
            found = _by_core(core, [target], rules, place, 10.0)
        except InconclusiveError:
            return False
        return [(m.rule, m.first) for m in found.matches] == [("probe", 1)] and not found.gave_up


def _targets(view: View) -> list[ScanTarget]:
    known = rule_languages()
    names = [name for name in (*ANALYZERS.get(view.language or "", ()), *_ANY_TEXT) if name in known]
    chosen = dict.fromkeys({"js": "javascript", "ts": "typescript", "sh": "bash"}.get(n, n) for n in names)
    return [ScanTarget(file=view.file, project_path=f"/{view.path}", analyzer=name) for name in chosen]


def _listed(targets: Sequence[ScanTarget], scratch: Path) -> Path:
    """The file that tells the engine what to look at."""
    listing = scratch / f"semgrep-targets-{len(targets)}-{abs(hash(targets[0])):x}.json"
    rows = [
        [
            "CodeTarget",
            {
                "path": {"fpath": str(t.file), "ppath": _utf8(t.project_path)},
                "analyzer": t.analyzer,
                "products": ["sast"],
            },
        ]
        for t in targets
    ]
    listing.write_text(json.dumps(["Targets", rows]))
    return listing


def _by_core(
    core: Path,
    targets: Sequence[ScanTarget],
    rules: Path,
    scratch: Path,
    deadline: float,
    *,
    per_rule: float | None = None,
    cpu: float | None = None,
) -> Matches:
    """One engine run; when it dies, halves, until the file that kills it stands alone. ``deadline``: seconds
    of wall time; ``cpu``: of processor time, for one file (None: as goes with the deadline).
    """
    listing = _listed(targets, scratch)
    home = scratch / "home"
    home.mkdir(exist_ok=True, mode=0o700)
    limits = (
        "-timeout",
        str(per_rule or PER_RULE),
        "-timeout_threshold",
        "1",
        "-max_memory",
        str(MEMORY_MIB),
    )
    done = process.run(
        [core, "-json_nodots", "-rules", rules, "-targets", listing, "-fast", "-j", "2", *limits],
        deadline=deadline,
        cwd=scratch,
        env={"HOME": str(home), "SEMGREP_SEND_METRICS": "off", "SEMGREP_ENABLE_VERSION_CHECK": "0"},
        limits=limited(memory=1 << 40, cpu=cpu or deadline * 2 + 5),
        cap=256 << 20,
    )
    try:
        answer = json.loads(done.stdout) if done.ok else None
    except ValueError:
        answer = None
    if isinstance(answer, dict):
        return _read(answer, targets)
    files = list(dict.fromkeys(t.file for t in targets))
    if len(files) == 1 or done.timed_out:
        late = done.timed_out or (cpu is not None and done.code in (-signal.SIGXCPU, -signal.SIGKILL))
        why = "Semgrep's deadline passed" if late else f"Semgrep's engine ended with {done.code}"
        return Matches(matches=(), gave_up={str(file): why for file in files})
    half = set(files[: len(files) // 2])
    left = deadline - done.seconds
    if left <= 0:
        return Matches(matches=(), gave_up={str(file): "Semgrep's deadline passed" for file in files})
    one = _by_core(core, [t for t in targets if t.file in half], rules, scratch, left)
    two = _by_core(core, [t for t in targets if t.file not in half], rules, scratch, left)
    return _joined((one, two))


def _read(answer: Mapping[str, Any], targets: Sequence[ScanTarget]) -> Matches:
    asked = {str(t.file) for t in targets}
    matches = tuple(
        Match(
            rule=row["check_id"],
            file=row["path"],
            first=row["start"]["line"],
            last=max(row["start"]["line"], row["end"]["line"]),
            ignored=bool(row["extra"].get("is_ignored")),
        )
        for row in answer["results"]
        if row["path"] in asked
    )
    gave_up = dict.fromkeys(asked - set(answer["paths"]["scanned"]), "Semgrep did not scan it")
    for error in answer["errors"]:
        kind = error["error_type"] if isinstance(error["error_type"], str) else error["error_type"][0]
        path = (error.get("location") or {}).get("path")
        if kind in _HARMLESS:
            continue
        if path in asked:
            gave_up[path] = f"Semgrep gave up ({kind})"
        else:
            raise InconclusiveError(f"Semgrep's engine failed ({kind})", advice="Run `gate doctor`.")
    return Matches(matches=matches, gave_up=gave_up)


_HARMLESS: Final = frozenset({"PartialParsing"})
"""The parts it could parse were looked at; a file that Python itself cannot parse is named elsewhere."""


def _finding(view: View, match: Match) -> Finding:
    meta = semgrep_rules()[match.rule]
    quoted = view.quote(match.first, min(match.last, match.first + 20))
    severity = meta.severity
    if meta.topic in _QUIET_IN_TESTS and is_test_code(view.path):
        severity = Severity.LOW
    found = Finding.of(
        meta,
        meta.title,
        view.location(match.first, match.last),
        shape=quoted,
        severity=severity,
        evidence={"code": view.quote(match.first)[:200]},
    )
    suppressed = "nosemgrep" if match.ignored or _NOSEM.search(quoted) else None
    return replace(found, suppressed_by=suppressed)


_QUIET_IN_TESTS: Final = frozenset({"crypto", "secret", "injection", "weak-check"})
"""Weaknesses (not acts) that test code shows on purpose: reported there, as low."""


def _utf8(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


SCANNER: Final = Semgrep()
