"""Evidence bundles: refused when they are not exactly what gate wrote. The way through is in integration."""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from gate import replay as replay_module
from gate.cli import main
from gate.errors import UsageError
from gate.model.behaviour import BehaviourDiff
from gate.model.change import Change
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.report import SandboxReport
from gate.model.rule import Confidence, FindingStage, Severity
from gate.model.run import Completeness, Outcome, Probe, RunRecord
from gate.replay import Bundle, replay
from gate.report.registry import REPORTERS
from gate.settings import load
from gate.stages.judgement import Evidence, judge
from gate.tracing.codec import encode
from gate.tracing.events import Event, Open, Process, Start, Summary
from tests.contract.trees import DictTree

SECRET = "correct-horse-battery-staple"
Members = dict[str, bytes]


def _trace(path: Path) -> Path:
    lines: list[Event] = [
        Start(seq=0, t=0, version=1, tracer="unotify", arch="x86_64", wall=0),
        Process(seq=1, t=0, pid=7, ppid=1, exe="/usr/bin/python3", comm="python3"),
        Open(seq=2, t=0, pid=7, call="open", path="/etc/shadow", access="r"),
        Open(seq=3, t=0, pid=7, call="open", path=f"/srv/{SECRET}", access="r"),
        Summary(seq=4, t=1, events=3, dropped=0, unparsed=0, calls={"open": 2}, end="exited"),
    ]
    path.write_bytes(b"".join(map(encode, lines)))
    return path


def _evidence(folder: Path) -> Evidence:
    probe = Probe(id="p", phase="import", target="import a", path="a.py", argv=("python3",))
    record = RunRecord(
        probe=probe,
        side="head",
        outcome=Outcome.COMPLETED,
        exit_code=0,
        seconds=1.0,
        peak_memory=None,
        completed=True,
        trace=_trace(folder / "t.jsonl"),
        completeness=Completeness(),
        stdout=b"\xff" + SECRET.encode(),
        driver_report={"items": [{"outcome": "completed"}]},
    )
    static = Finding(
        rule_id="py.hardcoded-secret",
        stage=FindingStage.PRESCREEN,
        severity=Severity.LOW,
        confidence=Confidence.MEDIUM,
        message="A secret.",
        locations=(Location(path="a.py", line=1),),
        shape=f"KEY = '{SECRET}'",
    )
    return Evidence(
        change=Change(repo="r", base=None, head=None, merge_base=None, commits=(), files=()),
        settings=load(base=DictTree(), environ={}),
        commits=(),
        static=(static,),
        behaviour=(),
        diff=BehaviourDiff(),
        sandbox=SandboxReport(backend="bubblewrap", isolation="process", tracer="unotify", runs=(record,)),
        planted=(),
        secrets=(SECRET,),
        stages=(),
        asked=(),
        ended=1_700_000_000.5,
        timings={"total": 1.5},
    )


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    evidence = _evidence(tmp_path)
    path = tmp_path / "b.zip"
    with Bundle(path) as bundle:
        bundle.runs(evidence.sandbox.runs)
        bundle.rest(evidence)
    return path


def test_behaviours_are_made_anew_from_the_traces(stored: Path) -> None:
    report = replay(stored)
    assert [f.rule_id for f in report.findings if f.stage is FindingStage.BEHAVIOUR] == [
        "credential-file-read",
        "system-file-read",
    ]
    assert report.made is not None
    assert report.made.at == 1_700_000_000


def test_a_bundle_holds_no_secret_and_the_fingerprints_stay(stored: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(stored) as archive:
        assert not any(SECRET.encode() in archive.read(name) for name in archive.namelist())
    first = {f.rule_id: f.fingerprint for f in judge(_evidence(tmp_path)).findings}
    assert first["py.hardcoded-secret"] in {f.fingerprint for f in replay(stored).findings}


def test_twice_the_same(stored: Path) -> None:
    one, two = (REPORTERS["json"].render(replay(stored)) for _ in range(2))
    assert one == two


def test_the_command_replays_and_refuses_shared_files(stored: Path, tmp_path: Path) -> None:
    assert main(["replay", "-q", "--json", str(tmp_path / "r.json"), str(stored)]) in (0, 1, 3)
    assert json.loads((tmp_path / "r.json").read_text())["findings"]
    assert main(["replay", "-q", "--json", str(tmp_path / "r.json"), str(stored), str(stored)]) == 2
    assert main(["replay", "-q", str(stored), str(stored)]) in (0, 1, 3)


def test_nothing_appears_when_the_check_did_not_end(tmp_path: Path) -> None:
    path = tmp_path / "b.zip"
    with Bundle(path) as bundle:
        bundle.runs(())
    with pytest.raises(KeyboardInterrupt), Bundle(path):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def _field(members: Members) -> None:
    members["bundle.json"] = members["bundle.json"].replace(b"{", b'{"also":1,', 1)


def _deep_field(members: Members) -> None:
    stored = json.loads(members["bundle.json"])
    stored["evidence"]["change"]["also"] = 1
    members["bundle.json"] = json.dumps(stored).encode()


def _trace_changed(members: Members) -> None:
    members["traces/0.jsonl"] += b"\n"


def _trace_gone(members: Members) -> None:
    del members["traces/0.jsonl"]


def _more(members: Members) -> None:
    members["traces/1.jsonl"] = b""


def _listed_elsewhere(members: Members) -> None:
    members["bundle.json"] = members["bundle.json"].replace(b"traces/0.jsonl", b"../../../0.jsonl")
    members["../../../0.jsonl"] = members.pop("traces/0.jsonl")


def _absolute(members: Members) -> None:
    members["bundle.json"] = members["bundle.json"].replace(
        b'"trace":"traces/0.jsonl"', b'"trace":"/etc/passwd"'
    )


def _version(members: Members) -> None:
    members["bundle.json"] = members["bundle.json"].replace(b'"version":1', b'"version":2')


def _no_json(members: Members) -> None:
    del members["bundle.json"]


def _deep(members: Members) -> None:
    members["bundle.json"] = b"[" * 100_000


def _deep_report(members: Members) -> None:
    said, deep = b'"driver_report":{"items":', b"[" * 600 + b"]" * 600
    assert said in members["bundle.json"]
    members["bundle.json"] = members["bundle.json"].replace(
        said, b'"driver_report":{"a":' + deep + b',"items":'
    )


@pytest.mark.parametrize(
    "spoil",
    [
        _deep_report,
        _field,
        _deep_field,
        _trace_changed,
        _trace_gone,
        _more,
        _listed_elsewhere,
        _absolute,
        _version,
        _no_json,
        _deep,
    ],
)
def test_what_gate_did_not_write_is_refused(stored: Path, spoil: Callable[[Members], None]) -> None:
    with zipfile.ZipFile(stored) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    spoil(members)
    with zipfile.ZipFile(stored, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(UsageError):
        replay(stored)


def test_bombs_are_refused_by_what_they_hold_not_by_what_they_say(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_module, "MOST_TRACE", 100)
    with pytest.raises(UsageError, match="too large"):
        replay(stored)
    monkeypatch.setattr(replay_module, "MOST_JSON", 100)
    with pytest.raises(UsageError, match="too large"):
        replay(stored)


def test_a_million_members_are_not_read_to_be_counted(stored: Path, tmp_path: Path) -> None:
    entry = b"PK\1\2" + bytes(42) + b"a"
    listed = entry * 20_000
    many, wide = tmp_path / "many.zip", tmp_path / "wide.zip"
    many.write_bytes(listed + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 20_000, 20_000, len(listed), 0, 0))
    record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 20_000, 20_000, len(listed), 0)
    leads = struct.pack("<4sLQL", b"PK\6\7", 0, len(listed), 1)
    wide.write_bytes(listed + record + leads + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, 47, 0, 0))
    for path in (many, wide):
        with pytest.raises(UsageError, match="list of members"):
            replay(path)
    with pytest.raises(UsageError, match="regular"):
        replay(Path("/dev/zero"))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no zip at all"])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(content)
    with pytest.raises(UsageError):
        replay(path)
    with pytest.raises(UsageError):
        replay(tmp_path / "missing.zip")
