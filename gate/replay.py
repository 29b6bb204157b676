"""Evidence bundles: everything a verdict rests on, in one file; and judging it again, running nothing.

A bundle is a zip file: ``bundle.json`` (the evidence, and the sha256 of every other member),
``traces/N.jsonl`` and ``network/N.jsonl`` of the Nth run. It holds the canaries of its check, which open
nothing, and what the code wrote and asked for; secrets that the static look found are taken out. It is
decoded as strictly as everything that crosses a trust boundary: names, sizes, digests, types, and no field
that we did not write.
"""

from __future__ import annotations

import contextlib
import hashlib
import platform
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import field, fields, replace
from pathlib import Path
from typing import IO, Any, Final, Literal, Self

import msgspec

from gate import __version__
from gate.dataclass import dataclass
from gate.errors import UsageError
from gate.model.report import Report
from gate.model.run import RunRecord
from gate.redaction import REDACTED, SHORTEST, without
from gate.regex import regex
from gate.sandbox.driver_report import plain
from gate.signals.interface import SignalContext
from gate.signals.run import signals
from gate.stages.judgement import Evidence, judge
from gate.tracing.diff import compare
from gate.tracing.request_fields import field_changes

VERSION: Final = 1
MOST_MEMBERS: Final = 4_000
MOST_JSON: Final = 128 << 20
MOST_TRACE: Final = 512 << 20
MOST_IN_ALL: Final = 2 << 30
_MOST_LISTED: Final = MOST_MEMBERS * 128
_END: Final = struct.Struct("<4s4H2LH")
"""A zip file's last record; before it, in those of 64 bit, stands what leads to another one."""
_LOCATOR: Final = 20
_CHUNK: Final = 1 << 20
_JSON: Final = "bundle.json"
_NAME: Final = regex(r"(?:traces|network)/[0-9]{1,5}\.jsonl")
_ADVICE: Final = "Use a bundle that `gate check --bundle FILE` wrote with this version of gate."


@dataclass(frozen=True, kw_only=True)
class Stored:
    """``bundle.json``. Traces are named by member; ``environment`` is for people, nothing is judged by it."""

    version: Literal[1]
    gate: str
    environment: dict[str, str]
    members: dict[str, str] = field(default_factory=dict)
    evidence: Evidence


_Parts = tuple[zipfile.ZipFile, IO[bytes], tempfile.TemporaryDirectory[str]]


class Bundle:
    """Writes one bundle while a check goes on, as a EvidenceSink. Use as a context manager: the file
    appears, whole, only when the block ends well and everything was kept.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._members: dict[str, str] = {}
        self._records: tuple[RunRecord, ...] = ()
        self._whole = False
        self._parts: _Parts | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self._parts is None:
            return
        archive, file, spool = self._parts
        archive.close()
        file.close()
        spool.cleanup()
        made = Path(file.name)
        if kind is None and self._whole:
            made.replace(self._path)
        else:
            made.unlink(missing_ok=True)

    def _begun(self) -> _Parts:
        """The archive, its file and a folder aside. Made when there is something to keep: by then the change
        is open, and a file of ours beside the bundle cannot become part of it.
        """
        if self._parts is None:
            try:
                file: IO[bytes] = tempfile.NamedTemporaryFile(  # noqa: SIM115 - closed in __exit__
                    dir=self._path.parent, prefix=".gate-bundle-", delete=False
                )
            except OSError as error:
                raise UsageError(
                    f"cannot write {self._path}: {error.strerror}", advice="Give a path that you may write."
                ) from error
            spool = tempfile.TemporaryDirectory(prefix="gate-bundle-")
            self._parts = (zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6), file, spool)
        return self._parts

    def runs(self, records: tuple[RunRecord, ...]) -> None:
        """Copy every trace aside; it is stored once it is known which secrets must not be in it."""
        kept = []
        _, _, spool = self._begun()
        for number, record in enumerate(records):
            paths = {}
            for name, folder in (("trace", "traces"), ("network", "network")):
                source: Path | None = getattr(record, name)
                if source is not None and source.is_file():
                    member = f"{folder}/{number}.jsonl"
                    copy = Path(spool.name) / member.replace("/", "-")
                    copy.write_bytes(source.read_bytes())
                    paths[name] = Path(member)
            kept.append(replace(record, trace=paths.get("trace"), network=paths.get("network")))
        self._records = tuple(kept)

    def rest(self, evidence: Evidence) -> None:
        """Store the evidence: last call."""
        secrets = tuple(text for text in evidence.secrets if len(text) >= SHORTEST)
        for record in self._records:
            for path in (record.trace, record.network):
                if path is not None:
                    self._add(str(path), secrets)
        evidence = replace(
            evidence, sandbox=replace(evidence.sandbox, runs=self._records), secrets=(), behaviour=()
        )
        evidence = replace(evidence, diff=type(evidence.diff)())  # made anew from the traces
        stored = Stored(
            version=VERSION,
            gate=__version__,
            environment=_environment(evidence),
            members=dict(sorted(self._members.items())),
            evidence=_without(evidence, secrets),
        )
        self._begun()[0].writestr(_JSON, _encode(stored))
        self._whole = True

    def _add(self, member: str, secrets: tuple[str, ...]) -> None:
        archive, _, spool = self._begun()
        data = (Path(spool.name) / member.replace("/", "-")).read_bytes()
        for secret in secrets:
            data = data.replace(secret.encode("utf-8", "surrogatepass"), REDACTED.encode())
        self._members[member] = hashlib.sha256(data).hexdigest()
        archive.writestr(member, data)


def replay(path: Path) -> Report:
    """Judge a bundle again: behaviours from its traces, findings from those, the rest as it was.

    Equal to the report of the check byte for byte, under the same rules and version (docs/observation.md
    names the exceptions). Raises UsageError for a file that is no whole bundle of ours.
    """
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gate-replay-")))
        evidence = _load(path, folder)
        runs = evidence.sandbox.runs
        diff = compare(runs, evidence.planted)
        fields = field_changes(runs, evidence.planted)
        known = frozenset(evidence.hosts_at_base)
        context = SignalContext(
            change=evidence.change, diff=diff, runs=runs, fields=fields, hosts_at_base=known
        )
        found = signals(context) if runs else ()
        return judge(replace(evidence, diff=diff, behaviour=found))


def _load(path: Path, folder: Path) -> Evidence:
    try:
        _check_end(path)
        with zipfile.ZipFile(path) as archive:
            stored = _stored(archive)
            _unpack(archive, stored, folder)
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise UsageError(f"{path} is no evidence bundle: {error}"[:300], advice=_ADVICE) from error
    runs = tuple(_placed(run, folder, stored) for run in stored.evidence.sandbox.runs)
    return replace(stored.evidence, sandbox=replace(stored.evidence.sandbox, runs=runs))


def _check_end(path: Path) -> None:
    """Refuse a long list of members unread: zipfile would make a million of them before we could count."""
    if not path.is_file():
        raise zipfile.BadZipFile("it is no regular file")
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _LOCATOR - _END.size))
        tail = file.read(_LOCATOR + _END.size)
    if len(tail) < _END.size:
        raise zipfile.BadZipFile("it is too short")
    mark, *_, listed, _, comment = _END.unpack(tail[-_END.size :])
    if mark != b"PK\5\6" or comment or tail.startswith(b"PK\6\7") or listed > _MOST_LISTED:
        raise zipfile.BadZipFile("its list of members is not as gate writes it")


def _stored(archive: zipfile.ZipFile) -> Stored:
    names = [entry.filename for entry in archive.infolist()]
    if len(names) > MOST_MEMBERS or len(set(names)) != len(names) or _JSON not in names:
        raise zipfile.BadZipFile("it has too many members, one twice, or no bundle.json")
    raw = b"".join(_pieces(archive, _JSON, MOST_JSON))
    try:
        stored = msgspec.json.decode(raw, type=Stored, dec_hook=_decoded)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise zipfile.BadZipFile(f"bundle.json: {error}") from error
    if _encode(stored) != raw:  # unknown fields, repeated keys, another spelling: not ours
        raise zipfile.BadZipFile("bundle.json is not as gate writes it")
    if set(names) != {_JSON, *stored.members} or not all(map(_NAME.fullmatch, stored.members)):
        raise zipfile.BadZipFile("its members are not those that bundle.json lists")
    return stored


def _unpack(archive: zipfile.ZipFile, stored: Stored, folder: Path) -> None:
    left = MOST_IN_ALL
    for name, digest in stored.members.items():
        total = hashlib.sha256()
        with (folder / name.replace("/", "-")).open("xb") as out:
            for piece in _pieces(archive, name, min(MOST_TRACE, left)):
                left -= len(piece)
                total.update(piece)
                out.write(piece)
        if total.hexdigest() != digest:
            raise zipfile.BadZipFile(f"{name} is not what was stored")


def _pieces(archive: zipfile.ZipFile, name: str, most: int) -> Iterator[bytes]:
    """A member's content, however long it says it is."""
    with archive.open(name) as stream:
        while piece := stream.read(_CHUNK):
            most -= len(piece)
            if most < 0:
                raise zipfile.BadZipFile(f"{name} is too large")
            yield piece


def _placed(run: RunRecord, folder: Path, stored: Stored) -> RunRecord:
    """The record with its traces where they were unpacked."""
    paths: dict[str, Path | None] = {}
    for name in ("trace", "network"):
        member: Path | None = getattr(run, name)
        if member is not None and str(member) not in stored.members:
            raise UsageError(f"the bundle lacks {member}", advice=_ADVICE)
        paths[name] = None if member is None else folder / str(member).replace("/", "-")
    return replace(run, trace=paths["trace"], network=paths["network"])


def _environment(evidence: Evidence) -> dict[str, str]:
    sandbox = evidence.sandbox
    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "sandbox": f"{sandbox.backend or 'none'}, {sandbox.isolation or 'none'}, {sandbox.tracer or 'none'}",
    }


def _encode(stored: Stored) -> bytes:
    return msgspec.json.encode(stored, enc_hook=str, order="deterministic")


def _decoded(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, str):
        return Path(value)
    if kind is object:  # the driver's report: whatever JSON it was
        return plain(value)
    raise ValueError(f"cannot hold {kind}")


def _without(value: Any, secrets: tuple[str, ...]) -> Any:
    """The same value with these texts replaced wherever they stand."""
    if not secrets:
        return value
    if isinstance(value, str):
        return without(value, secrets)
    if isinstance(value, bytes):
        for secret in secrets:
            value = value.replace(secret.encode("utf-8", "surrogatepass"), REDACTED.encode())
        return value
    if isinstance(value, dict):
        return {_without(key, secrets): _without(each, secrets) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(_without(each, secrets) for each in value)
    if hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        return replace(value, **{f.name: _without(getattr(value, f.name), secrets) for f in fields(value)})
    return value
