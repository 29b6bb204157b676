"""Makes handlers in which real and only apparent vulnerabilities are mixed, from tables of their parts.

The tables were written from descriptions of weaknesses (CWE) and documentation of frameworks, without a
look at any rule. A seed decides which are put together, so a corpus is the same wherever it is made.
"""

from __future__ import annotations

import random
import re
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FRAMEWORKS = ("flask", "factory", "django", "fastapi", "aiohttp", "tornado")
PER_CLASS = 12
WORDS = {
    "HANDLER": ("show", "find", "report", "profile", "listing", "preview", "export", "order", "notes"),
    "PARAM": ("param", "asked", "given", "name", "raw", "query", "wish"),
    "VALUE": ("bar", "told_of", "used", "result", "chosen", "final"),
    "KEY": ("q", "name", "item", "ref", "target", "vector"),
    "OTHER": ("a_value", "north", "harmless", "plain"),
}


@dataclass(frozen=True, kw_only=True)
class Handler:
    """One handler of the corpus, with the files around it. ``hole`` is its label. ``main`` is the file it
    stands in; ``how`` says of what it was put together.
    """

    name: str
    weakness: str
    cwes: frozenset[int]
    hole: bool
    framework: str
    how: str
    main: str
    files: dict[str, str] = field(default_factory=dict)


def handlers(seed: int = 18, per_class: int = PER_CLASS) -> Iterator[Handler]:
    """Pairs: a hole and its twin of the same framework, source and kind of sink, one after the other."""
    sources, flows, sinks = (
        tomllib.loads((HERE / f"{n}.toml").read_text()) for n in ("sources", "flows", "sinks")
    )
    chance = random.Random(seed)
    number = 0
    for weakness, table in sinks.items():
        for at in range(per_class // 2 if table.get("fixed") else per_class):
            frameworks = table.get("only", FRAMEWORKS)
            framework = frameworks[at % len(frameworks)]
            pair = table["pair"][at % len(table["pair"])]
            words = {key: chance.choice(options) for key, options in WORDS.items()}
            source = _source(sources[framework], chance)
            fitting = [f for f in flows["flow"] if weakness not in f.get("not_for", ())]
            kept = chance.choice(fitting)
            losing = chance.choice([f for f in fitting if weakness in f.get("loses_for", [weakness])])
            by_flow = at % 3 != 2 and not table.get("fixed") and "loses" in losing
            twins = [
                (True, kept, kept["keeps"], pair["hole"]),
                (False, losing, losing["loses"], pair["hole"])
                if by_flow
                else (False, kept, kept["keeps"], pair["secure"]),
            ]
            for hole, flow, lines, sink in twins:
                number += 1
                yield _handler(
                    number,
                    weakness,
                    table,
                    hole,
                    framework,
                    sources[framework],
                    source,
                    flow,
                    lines,
                    pair,
                    sink,
                    words,
                )


def _source(framework: dict[str, Any], chance: random.Random) -> tuple[str, dict[str, str]]:
    found: list[tuple[str, dict[str, str]]] = [
        (name, {"lines": lines}) for name, lines in framework.get("source", {}).items()
    ]
    found += list(framework.get("signature", {}).items())
    found += [(name, {"args": args, "path": "yes"}) for name, args in framework.get("path", {}).items()]
    return chance.choice(found)


def _handler(
    number: int,
    weakness: str,
    table: dict[str, Any],
    hole: bool,
    name: str,
    framework: dict[str, Any],
    source: tuple[str, dict[str, str]],
    flow: dict[str, Any],
    flow_lines: str,
    pair: dict[str, Any],
    sink: str,
    words: dict[str, str],
) -> Handler:
    module = f"case{number:04}"
    route = f"{words['HANDLER']}/{number:04}"
    if source[1].get("path"):
        route += {"flask": "/<path:PARAM>", "django": "/<path:PARAM>", "fastapi": "/{PARAM:path}"}[name]
    if "path_parts" in source[0]:
        route = "<path:ignored>/" + route
    arguments = source[1].get("args", "ignored" if "ignored" in route else "")
    body = _answers(flow_lines.strip("\n") + "\n" + sink.strip("\n"), framework)
    text = framework["frame"].lstrip("\n")
    text = _put(text, "BODY", body)
    text = _put(text, "SOURCE", source[1].get("lines", ""))
    text = text.replace("ARGS", arguments).replace("METHOD", source[1].get("method", "get"))
    if flow.get("before"):
        text = _before(text, flow["before"])
    main = framework.get("module", "app.py")
    files = {**framework.get("files", {}), **flow.get("files", {}), **pair.get("files", {})}
    if "tools.wrapped" in text:
        files |= {"tools/wrapped.py": WRAPPED, "tools/__init__.py": ""}
    files = {main: text, **files}
    done = {}
    for path, content in files.items():
        content = content.replace("ROUTE", route)
        for word, by in {**words, "ANSWER": "RESPONSE", "MODULE": module}.items():
            content = re.sub(rf"(?<![A-Za-z]){word}(?![A-Z])", by, content)
        done[path.replace("MODULE", module)] = content.lstrip("\n")
    return Handler(
        name=module,
        weakness=weakness,
        cwes=frozenset({table["cwe"], *table.get("also", ())}),
        hole=hole,
        framework=name,
        how=f"{name}/{source[0]} {flow['name']} {pair['name']}",
        main=main.replace("MODULE", module),
        files=done,
    )


def _put(frame: str, word: str, lines: str) -> str:
    """The frame with the word's line replaced by these lines, as deep as it stands."""
    found = re.search(rf"^( *){word}\n", frame, re.MULTILINE)
    assert found, word
    return frame.replace(
        found[0], textwrap.indent(lines.strip("\n") + "\n", found[1]) if lines.strip() else ""
    )


def _before(text: str, lines: str) -> str:
    """With these definitions after the imports."""
    at = re.search(r"\n\n", text)
    assert at
    return text[: at.start()] + "\n\n\n" + lines.strip("\n") + "\n" + text[at.start() :]


def _answers(body: str, framework: dict[str, Any]) -> str:
    out = []
    for line in body.split("\n"):
        found = re.fullmatch(r"( *)(HTML|TEXT|REDIRECT|SET_COOKIE|DONE)(?:\((.*)\))?", line)
        if found:
            kind = "COOKIE" if found[2] == "SET_COOKIE" else found[2]
            line = textwrap.indent(framework[kind].strip("\n").replace("@", found[3] or ""), found[1])
        out.append(line.replace("SESSION", framework.get("SESSION", "")))
    return "\n".join(out)


WRAPPED = """
class Wrapped:
    def __init__(self, request):
        self.request = request

    def form_value(self, key):
        return self.request.form.get(key)
"""
