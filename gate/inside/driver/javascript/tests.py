"""Runs JavaScript test files with the project's own runner: vitest, jest, mocha, AVA or Node's.

The runner is the one that the file imports or the nearest package.json names; it is started in the outermost
folder that has settings for it. Everything it starts is watched by a preload of ours (watch.mjs).
Nothing is built first; a runner that is not installed is told as missing.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from typing import Any

from .. import argument_values, runtimes

HERE = os.path.dirname(os.path.abspath(__file__))
RUNNERS = ("vitest", "jest", "mocha", "ava", "node:test")
_MARKS = {
    "vitest": ("vitest", "vitest/node", "vite-plus"),
    "jest": ("@jest/globals", "jest"),
    "mocha": ("mocha",),
    "ava": ("ava",),
    "node:test": ("node:test", "test"),
}
_PROGRAMS = {
    "vitest": (("vitest", "vitest"), ("vite-plus", "vp")),
    "jest": (("jest", "jest"), ("jest-cli", "jest")),
    "mocha": (("mocha", "mocha"),),
    "ava": (("ava", "ava"),),
}
"""Package, and the name of the program in its ``bin``."""
_SETTINGS = {
    "vitest": ("vitest.config.", "vitest.workspace.", "vite.config."),
    "jest": ("jest.config.",),
    "mocha": (".mocharc.",),
    "ava": ("ava.config.",),
    "node:test": (),
}
_CONFIGURED = ("vitest", "jest", "mocha")
"""Those that take the place of their settings by ``--config``."""
_HEAP = 768
"""MiB of each process of a runner."""
_MARGIN, _LEAST = 2.5, 1.0
_SAID = 4000
_REPORT = 64 << 20
"""Characters of what a runner or our preload wrote: a thousand tests take half a million."""


def run(item: dict[str, Any], context: Any) -> dict[str, Any]:
    """Run the files, each with its runner. ``tests`` counts what became of them, where the runner tells."""
    paths = [path for path in item.get("paths") or [] if os.path.lexists(path)]
    paths = paths or [path for path in item.get("else") or [] if os.path.lexists(path)]
    if not paths:
        return {"outcome": "absent"}
    node, ours = runtimes.find_node()
    if node is None:
        return {"outcome": "missing", "missing": "node"}
    groups: dict[tuple[str, str], list[str]] = {}
    for path in paths:
        runner = runner_of(path)
        groups.setdefault((runner, _folder(runner, path)), []).append(path)
    argument_values.lay_out()
    runtimes.offer_node()
    result: dict[str, Any] = {"outcome": "completed", "tests": {}}
    problems: list[dict[str, Any]] = []
    ran = 0
    until = float(context.until) - _MARGIN
    for number, ((runner, folder), files) in enumerate(sorted(groups.items())):
        share = (until - time.monotonic()) / (len(groups) - number)
        if share < _LEAST:
            _add(result["tests"], {"not_run": len(files)})
            continue
        told = _Run(node, ours, runner, folder, files, context, share).result()
        _add(result["tests"], told.pop("tests", {}))
        ran += told["outcome"] == "completed"
        if told["outcome"] != "completed":
            problems.append(told)
    if problems and not ran:
        return {**result, **problems[0]}
    return result


def _add(counts: dict[str, int], more: dict[str, int]) -> None:
    for name, count in more.items():
        counts[name] = counts.get(name, 0) + count


def runner_of(path: str) -> str:
    """By what the file imports, else by what the manifests above name; empty where neither says."""
    text = _text(path)
    for runner in ("vitest", "node:test", "jest", "ava"):
        for mark in _MARKS[runner][:2] if runner != "node:test" else ("node:test",):
            if mark != "jest" and (f'"{mark}"' in text or f"'{mark}'" in text):
                return runner
    for folder in _above(path):
        manifest = _manifest(folder)
        said = str(_table(manifest.get("scripts")).get("test") or "")
        asked = {**_table(manifest.get("devDependencies")), **_table(manifest.get("dependencies"))}
        for runner in ("vitest", "jest", "mocha", "ava"):
            if runner in said or (runner in asked and _program(runner, folder)):
                return runner
        if "node --test" in said or "--test" in said.split():
            return "node:test"
    return ""


def _folder(runner: str, path: str) -> str:
    """The outermost folder above with settings for the runner, else the nearest with a package.json."""
    nearest = ""
    found = settings_named(runner, path)[0] if runner in _CONFIGURED else ""
    if found:
        return found
    for folder in _above(path):
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        if "package.json" in names:
            nearest = nearest or folder
            if runner in _manifest(folder):
                found = folder
        if any(name.startswith(start) for name in names for start in _SETTINGS.get(runner, ())):
            found = folder
    return found or nearest or "."


_SCRIPTS = re.compile(r"test\b")
_NAMED = re.compile(r"(?:^|\s)(?:--config|-c)[=\s]+['\"]?([^\s'\"]+)")


def settings_named(runner: str, path: str) -> tuple[str, str]:
    """The folder from which a project's own test script starts the runner with settings that it names
    (``vitest run --config test/vitest.config.mts``), and those; empty where no script above does. One
    that names a folder of the file (``test-unit``: ``jest --config u.config.js tests/unit``) goes first.
    """
    for folder in _above(path):
        scripts = _table(_manifest(folder).get("scripts"))
        for name in sorted(scripts, key=lambda n: (_distance(str(scripts[n]), folder, path), n != "test", n)):
            said = str(scripts[name])
            found = _NAMED.search(said) if _SCRIPTS.match(name) and runner in said.split() else None
            if found and os.path.isfile(os.path.join(folder, found[1])):
                return folder, os.path.normpath(found[1])
    return "", ""


def _distance(said: str, folder: str, path: str) -> int:
    """How far a script's words are from the file: below nought where it names a folder above it, above where
    it names others alone.
    """
    places = [os.path.normpath(os.path.join(folder, word)) for word in said.split() if "/" in word]
    near = [place for place in places if os.path.normpath(path).startswith(place + os.sep)]
    if near:
        return -max(map(len, near))
    return int(any(os.path.isdir(place) for place in places))


def _above(path: str) -> list[str]:
    """Folders of the tree, nearest first."""
    found = []
    folder = os.path.dirname(path)
    while True:
        found.append(folder or ".")
        if not folder:
            return found
        folder = os.path.dirname(folder)


def _program(runner: str, folder: str) -> str | None:
    """The runner's own script, by what its package says, as Node would find it from there."""
    for above in (*([folder] if folder != "." else []), *_above(folder)):
        for package, name in _PROGRAMS.get(runner, ()):
            place = os.path.join(above, "node_modules", package)
            said = _manifest(place).get("bin")
            script = said if isinstance(said, str) else _table(said).get(name)
            path = os.path.join(place, script) if isinstance(script, str) else ""
            if os.path.isfile(path):
                return os.path.realpath(path)
    return None


def _text(path: str, most: int = 200_000) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(most)
    except OSError:
        return ""


def _manifest(folder: str) -> dict[str, Any]:
    try:
        return _table(json.loads(_text(os.path.join(folder, "package.json"))))
    except (ValueError, RecursionError):
        return {}


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


class _Run:
    """One runner in one folder."""

    def __init__(
        self, node: str, ours: bool, runner: str, folder: str, files: list[str], context: Any, seconds: float
    ) -> None:
        self.node, self.ours, self.runner, self.folder = node, ours, runner, folder
        self.files = [os.path.relpath(path, folder) for path in files]
        self.context = context
        self.seconds = seconds
        self.place = f"/tmp/gate-tests-{abs(hash((runner, folder))) % 10_000}"  # inside the sandbox

    def result(self) -> dict[str, Any]:
        """What became of it. A runner whose result cannot be read is taken by its exit code."""
        words = self._words()
        if words is None:
            return {"outcome": "missing", "missing": self.runner or "a test runner that we know"}
        os.makedirs(self.place, exist_ok=True)
        with open(f"{self.place}/watch.json", "w", encoding="ascii") as file:
            json.dump(self._job(), file)
        preload = f"--import={HERE}/watch.mjs"
        options = ["--no-warnings", f"--max-old-space-size={_HEAP}", preload]
        if self.ours and self.runner in ("mocha", "node:test"):
            options.insert(2, f"--import={HERE}/hooks.mjs")
        environment = {
            **os.environ,
            "CI": "1",
            "NODE_ENV": "test",
            "FORCE_COLOR": "0",
            "NO_COLOR": "1",
            "GATE_WATCH": f"{self.place}/watch.json",
            "NODE_OPTIONS": " ".join(options),
        }
        environment.pop("PYTHONPATH", None)
        code: int | None = None
        with open(f"{self.place}/said", "w+b") as said_file:
            child = subprocess.Popen(
                [self.node, *words],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=said_file,
                stderr=subprocess.STDOUT,
            )
            try:
                code = child.wait(self.seconds + 1.5)
            except subprocess.TimeoutExpired:
                child.returncode = 0  # left to the launcher: a kill by us would stand in the trace
            said_file.seek(0)
            said = said_file.read(4 << 20)
        self._tell()
        counts = self._counts(said)
        late = code is None or os.path.exists(f"{self.place}/late")
        if late:
            counts["not_run"] = counts.get("not_run", 0) + 1
        report: dict[str, Any] = {"outcome": "completed", "tests": counts}
        if not late and not (counts.get("passed") or counts.get("failed")):
            text = self._blamed() or said[-_SAID:].decode("utf-8", "replace")
            report.update(outcome="uncollected", message=_last(text) or f"exit code {code}")
        return report

    def _job(self) -> dict[str, Any]:
        top = os.getcwd()
        lines = {
            os.path.join(top, path): spans for path, spans in (self.context.job.get("lines") or {}).items()
        }
        return {
            "lines": lines,
            "out": self.place,
            "until": time.time() + self.seconds,
            "hooks": self.ours and self.runner in ("mocha", "node:test"),
        }

    def _words(self) -> list[str] | None:
        """The command line behind ``node``; None where the runner is not there."""
        if self.runner == "node:test":
            return ["--test", "--test-reporter=tap", *self.files]
        program = _program(self.runner, self.folder)
        if program is None:
            return None
        told = f"{self.place}/result.json"
        at, settings = settings_named(self.runner, os.path.join(self.folder, self.files[0]))
        named = [f"--config={settings}"] if settings and at == self.folder else []
        if self.runner == "vitest":
            words = [
                "run",
                "--watch=false",
                "--pool=forks",
                "--no-file-parallelism",
                "--coverage.enabled=false",
            ]
            return [
                program,
                *words,
                *named,
                "--typecheck.enabled=false",
                "--reporter=json",
                f"--outputFile={told}",
                *self.files,
            ]
        if self.runner == "jest":
            words = ["--runInBand", "--watchman=false", "--coverage=false", "--json", f"--outputFile={told}"]
            return [
                program,
                *words,
                *named,
                "--forceExit",
                "--cacheDirectory=/tmp/gate-jest",
                "--runTestsByPath",
                *self.files,
            ]
        if self.runner == "mocha":
            return [
                program,
                "--exit",
                *named,
                "--reporter=json",
                f"--reporter-option=output={told}",
                *self._required(),
                *self.files,
            ]
        return [program, "--serial", "--tap", *self.files]

    def _required(self) -> list[str]:
        """What the project's own test script requires first, for mocha."""
        words = str(_table(_manifest(self.folder).get("scripts")).get("test") or "").split()
        found = []
        for at, word in enumerate(words[:-1]):
            if word in ("--require", "-r", "--import") and os.path.exists(
                os.path.join(self.folder, words[at + 1])
            ):
                found += [f"--require={words[at + 1]}"]
        return found

    def _tell(self) -> None:
        """Hand on what the watched processes noted, with paths of the tree."""
        top = os.getcwd() + os.sep
        for name in sorted(os.listdir(self.place)):
            if not name.endswith(".json") or name in ("watch.json", "result.json"):
                continue
            try:
                news = _table(json.loads(_text(os.path.join(self.place, name), _REPORT)))
            except (ValueError, RecursionError):
                continue
            fields = {
                key: {path.removeprefix(top): lines for path, lines in _table(news.get(key)).items()}
                for key in ("lines", "acted")
            }
            self.context.channel.say("seen", **fields)

    def _result(self) -> dict[str, Any]:
        """The runner's own report; empty where it wrote none."""
        try:
            return _table(json.loads(_text(f"{self.place}/result.json", _REPORT)))
        except (ValueError, RecursionError):
            return {}

    def _blamed(self) -> str:
        """What the runner's report says of the files of which no test ran."""
        files = self._result().get("testResults")
        texts = [_table(one).get("message") for one in (files if isinstance(files, list) else ())]
        return "\n".join(text[:_SAID] for text in texts if isinstance(text, str) and text)

    def _counts(self, said: bytes) -> dict[str, int]:
        """How many tests passed and failed."""
        told = self._result()
        stats = _table(told.get("stats"))
        passed = told.get("numPassedTests", stats.get("passes", 0))
        failed = told.get("numFailedTests", stats.get("failures", 0))
        if not told:
            lines = said.decode("utf-8", "replace").splitlines()
            passed = sum(line.strip().startswith("ok ") for line in lines)
            failed = sum(line.strip().startswith("not ok ") for line in lines)
        return {k: v for k, v in (("passed", passed), ("failed", failed)) if type(v) is int and v > 0}


def _last(text: str) -> str:
    """The line that says what went wrong: the first that names an error, else the last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("JSON report written to")]
    named = [line for line in lines if "Error" in line or "No test" in line or "Cannot find" in line]
    return (named or lines[-1:] or [""])[0][:200]
