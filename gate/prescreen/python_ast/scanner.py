"""Our own rules for Python, on the syntax tree: names, constants and where values come from resolved.

Each changed file is parsed once, in a child with limits, at head and at base; what head has more is reported.
The rules are in gate/prescreen/rules, one file each.
"""

from __future__ import annotations

import ast
import gc
import hashlib
import io
import os
import re
import time
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cache

from gate import plugins
from gate.dataclass import dataclass
from gate.languages.child_worker import share
from gate.languages.limited_child import PER_FILE, Reader, scan_isolated
from gate.languages.python_syntax import newer_python
from gate.model.change import Tree
from gate.model.finding import Finding
from gate.model.rule import Confidence, Severity
from gate.prescreen.interface import Prescreened, PrescreenRequest, View, Views
from gate.prescreen.outcome import ended
from gate.prescreen.python_ast.called_files import called_files, passed_by, view_of
from gate.prescreen.python_ast.dead_code import is_dead
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.harmless import BY_VALUE, VALUE_WORDS, is_harmless
from gate.prescreen.python_ast.imported_files import imported_files, imported_texts, imports_of
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.outside_calls import SINK_WORDS, callers_of, candidates, may_call
from gate.prescreen.python_ast.rule import AstRule, Hit, ast_rules, plugin_rules
from gate.prescreen.python_ast.stored.reads import stored_reads
from gate.prescreen.python_ast.stored.tree import STORED_RULES, places, stored_by
from gate.prescreen.scope import only_new
from gate.prescreen.views import make_views
from gate.regex import regex

_COMPOUND = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.For, ast.AsyncFor, ast.While, ast.With,
    ast.AsyncWith, ast.Try, ast.ExceptHandler, ast.Match,
)  # fmt: skip
_OWN = "As far as it can be read, no text that could do harm gets there."
_STEPS = 20
"""Lines of a way that are told, the last ones."""
_FOLLOWING = 0.5
"""Share of a file's processor time that is for following values; rules that need none of it always end."""
_UNKNOWN = "py.unknown-import"
_SUPPRESSION = regex(r"#\s*(nosec\b|nosemgrep\b|noqa\s*(?::[^#]*\bS\d|$))", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleHit:
    """One hit, as the child sends it. Lines are those of the view's text; ``way``: those from where
    outsiders decide a value to the hit.
    """

    rule: str
    severity: Severity
    confidence: Confidence
    message: str
    first: int
    last: int
    evidence: Mapping[str, str] = field(default_factory=dict)
    way: tuple[int, ...] = ()
    expression: str = ""
    """The expression itself, however its line is laid out; empty for statements."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scanned:
    """What the child says of one file: its hits, and the modules that it imports."""

    hits: list[RuleHit]
    imports: list[str]
    unfinished: list[str] = field(default_factory=list)
    """Rules that follow values and had no time left for it."""
    asked: list[str] = field(default_factory=list)
    """Tables of the database from which a value was read that is used (Module.asked)."""


def prepare() -> None:
    """Import the rules: in the template of the limited children (child_template.py), which alone ask them.
    A check itself needs them where one of them has found something.
    """
    ast_rules()


def parse(path: str, data: bytes) -> Module:
    """The indexed module of a file's bytes, decoded as Python would (cookie, BOM).

    Raises SyntaxError or ValueError where CPython does; MemoryError and RecursionError for bombs.
    """
    tree = newer_python.parse_bytes(data)
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return Module(path, data.decode(encoding, "replace"), tree)


def hits(
    module: Module, rules: Iterable[AstRule] | None = None, unfinished: list[str] | None = None
) -> list[tuple[AstRule, Hit]]:
    """Every hit of every rule, the worst one for each line, in the order of rules and lines.

    Rules that asked for a value's way when it was late (Module.until) are named in ``unfinished``.
    """
    chosen = [*(rules if rules is not None else (*ast_rules(), *plugin_rules()))]
    found: dict[str, list[tuple[AstRule, Hit]]] = {}
    for rule in sorted(chosen, key=lambda one: one.meta.id not in STORED_RULES):
        module.asking = rule.meta.id in STORED_RULES
        module.late = False
        worst = _worst(module, rule)
        found.setdefault(rule.meta.id, []).extend((rule, worst[line]) for line in sorted(worst))
        if module.late and unfinished is not None:
            unfinished.append(rule.meta.id)
    return [one for rule_id in dict.fromkeys(rule.meta.id for rule in chosen) for one in found[rule_id]]


def _worst(module: Module, rule: AstRule) -> dict[int, Hit]:
    """The worst hit of a rule for each line."""
    worst: dict[int, Hit] = {}
    for found in rule.check(module):
        line = getattr(found.node, "lineno", 0)
        if not line or (rule.weakness and is_dead(module, found.node)):
            continue
        hit = found
        if _rank(rule, hit) > Severity.LOW.rank and is_harmless(module, rule.meta.id, hit.node):
            hit = replace(hit, severity=Severity.LOW, message=f"{hit.message} {_OWN}")
        if line not in worst or _rank(rule, hit) > _rank(rule, worst[line]):
            worst[line] = hit
    return worst


def _rank(rule: AstRule, hit: Hit) -> int:
    return (hit.severity or rule.meta.severity).rank


def severity_of(module: Module, rule: AstRule, hit: Hit) -> Severity:
    """The hit's severity: careless code that only tests run is low, an attack is what it is anywhere."""
    if rule.weakness and module.is_test:
        return Severity.LOW
    return hit.severity or rule.meta.severity


def scan_text(path: str, data: bytes, options: Mapping[str, object]) -> Scanned:
    """All hits in one file, new or not. Runs in the child of ``scan_isolated``.

    Raises SyntaxError where Python would; memory and stack are the child's business.
    """
    os.environ[plugins.VARIABLE] = str(options.get("plugins", ""))  # the child has a clean environment
    gc.set_threshold(100_000, 20, 100)  # a tree is millions of small objects and no cycles
    module = parse(path, data)
    given = options.get("outside")
    module.outside = given.get(path, {}) if isinstance(given, dict) else {}
    module.others = imported_texts(path, options)
    stored = options.get("stored")
    module.stored = stored if isinstance(stored, dict) else {}
    module.until = time.process_time() + _FOLLOWING * share(PER_FILE, len(data))
    unfinished: list[str] = []
    found = [_found(module, rule, hit) for rule, hit in hits(module, unfinished=unfinished)]
    return Scanned(hits=found, imports=imports_of(module), unfinished=unfinished, asked=sorted(module.asked))


def _found(module: Module, rule: AstRule, hit: Hit) -> RuleHit:
    first: int = hit.node.lineno  # type: ignore[attr-defined]
    last = first if isinstance(hit.node, _COMPOUND) else getattr(hit.node, "end_lineno", first) or first
    severity = severity_of(module, rule, hit)
    followed = rule.weakness and severity.rank > Severity.LOW.rank
    return RuleHit(
        rule=rule.meta.id,
        severity=severity,
        confidence=hit.confidence or rule.meta.confidence,
        message=hit.message,
        first=first,
        last=last,
        evidence={key: value[:200] for key, value in {**hit.evidence, **_stored(module, hit)}.items()},
        way=Flow(module).way(hit.node)[-_STEPS:] if followed else (),
        expression=_expression(hit.node) if followed and isinstance(hit.node, ast.expr) else "",
    )


def _stored(module: Module, hit: Hit) -> dict[str, str]:
    """Which column a value of the hit was read from, and where a request writes it."""
    if not module.stored or not isinstance(hit.node, ast.Call):
        return {}
    flow, reads = Flow(module), stored_reads(module)
    given = [*hit.node.args, *(keyword.value for keyword in hit.node.keywords), hit.node.func]
    columns = [column for part in given for node in flow.trace(part).nodes for column in reads.columns(node)]
    said = next(places(module.stored, dict.fromkeys(columns)), "")
    return {"stored": said} if said else {}


_EXPRESSION = 2_000
"""Characters of an expression that are kept as they are."""


def _expression(node: ast.expr) -> str:
    """The expression as one text, however it is laid out; the end of a long one by its digest."""
    text = ast.unparse(node)
    rest = text[_EXPRESSION:]
    return text[:_EXPRESSION] + (hashlib.sha256(rest.encode("utf-8", "replace")).hexdigest() if rest else "")


_ByView = list[tuple[View, list[RuleHit]]]


class PyAst:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "pyast"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Run every rule over every changed Python file; a file it could not parse degrades the stage.

        Base is looked at only where head found something: it can only take findings away.
        """
        until = time.monotonic() + request.deadline
        views = make_views(request)
        found, unlooked = _look_twice(views.of(("python",), "head"), request.head, until)
        found = _without_own(found, request.head)
        noisy = {id(view.source) for view, _ in found}
        olds = [view for view in views.of(("python",), "base") if id(view.source) in noisy]
        before, unread = _look_twice(olds, request.base, until, everywhere=True)
        now, then = _by_expression(found), _by_expression(before)
        heads = list(_findings(found))
        shapes = {(f.rule_id, f.primary): f.shape for f in heads}
        new = only_new(
            [_compared(finding, now) for finding in heads],
            [_compared(finding, then) for finding in _findings(before)],
            request.change,
            unread_base=[path for path, _ in unread],
        )
        new = tuple(replace(f, shape=shapes[f.rule_id, f.primary]) for f in new)
        new += _in_called_files(views, request, until)
        return ended(self.name, new, unlooked)


def _in_called_files(views: Views, request: PrescreenRequest, until: float) -> tuple[Finding, ...]:
    """Weaknesses of files that did not change, where only head passes them what outsiders decide."""
    heads, bases = [*views.of(("python",), "head")], [*views.of(("python",), "base")]
    names = frozenset(name for f in request.change.files for name in (f.path, f.old_path or f.path))
    files = called_files(heads, request.head, names)
    passed = passed_by(heads, files) if files else {}
    if not passed:
        return ()
    before = passed_by(bases, files)
    passed = {path: calls for path, calls in passed.items() if before.get(path) != calls}
    own = [view_of(path, text, heads[0]) for path, text in files if path in passed]
    now = _high(own, passed, until)
    then = {(path, item.rule, item.first) for path, item in _high(own, before, until)} if now else set()
    fresh = [(path, item) for path, item in now if (path, item.rule, item.first) not in then]
    by_path = {view.path: view for view in own}
    told = f"{_CALLED} {_some(sorted({view.path for view in heads}))}."
    return tuple(
        _findings(
            [(by_path[path], [replace(item, message=f"{item.message} {told}")]) for path, item in fresh]
        )
    )


_CALLED = "The file did not change; what it is given now does, by"


def _high(own: Sequence[View], passed: Mapping[str, object], until: float) -> list[tuple[str, RuleHit]]:
    """The severe hits in these files, with what is passed to them."""
    found, _ = _look(own, max(1.0, until - time.monotonic()), {"outside": passed})
    return [
        (view.path, item)
        for view, items in found
        for item in items
        if item.severity.rank >= Severity.HIGH.rank and _topics().get(item.rule) in _BY_CALLER
    ]


def _by_expression(found: _ByView) -> dict[tuple[str, str, int], str]:
    """The expression of each weakness, by rule, path and line: what is the same with another layout or an
    annotation.
    """
    return {
        (item.rule, view.path, view.location(item.first, item.last).line or 0): item.expression
        for view, items in found
        for item in items
        if item.expression
    }


def _compared(finding: Finding, expressions: Mapping[tuple[str, str, int], str]) -> Finding:
    """The finding with its expression for a shape."""
    key = (finding.rule_id, finding.primary.path, finding.primary.line or 0)
    return replace(finding, shape=expressions.get(key, finding.shape))


def _look_twice(
    views: Sequence[View], tree: Tree, until: float, *, everywhere: bool = False
) -> tuple[_ByView, list[tuple[str, str]]]:
    """What is found with what other files of the tree say, and the files that could not be parsed."""
    imports: dict[str, list[str]] = {}
    asked: dict[str, list[str]] = {}
    found, unlooked = _look(views, max(1.0, until - time.monotonic()), imports=imports, asked=asked)
    reading = _reading(views, asked)
    texts = (
        imported_files([*dict.fromkeys([*_by_value(views, found), *reading])], imports, tree) if views else {}
    )
    found, unread = _with_callers(found, views, tree, until, texts, everywhere=everywhere)
    found = _with_stored(found, [v for v in views if v.path in reading], tree, until, texts, asked)
    return found, [*unlooked, *(unread if everywhere else ())]


def _reading(views: Sequence[View], asked: Mapping[str, Sequence[str]]) -> list[str]:
    """Files in which a value of the database may go to a sink that it can harm."""
    return [v.path for v in views if asked.get(v.path)]


def _with_stored(
    found: _ByView,
    again: Sequence[View],
    tree: Tree,
    until: float,
    texts: Mapping[str, object],
    asked: dict[str, list[str]],
) -> _ByView:
    """The same with what requests write into the tables that these files read (stored/)."""
    if any("?" in asked.get(view.path, ()) for view in again) and texts.get(
        "imported"
    ):  # functions of other files may give rows
        _look(again, max(1.0, until - time.monotonic()), {**texts}, asked=asked)
    stored = stored_by({table for view in again for table in asked.get(view.path, ())}, tree) if again else {}
    if not stored:
        return found
    better, late = _look(again, max(1.0, until - time.monotonic()), {**texts, "stored": stored})
    first = {path for path, _ in late}
    seen = {view.path: items for view, items in better if view.path not in first}
    told = {(path, item.rule, item.first) for path, items in seen.items() for item in items}
    kept = [
        (view, [i for i in items if (view.path, i.rule, i.first) not in told] + seen.pop(view.path, []))
        for view, items in found
    ]
    return [*kept, *((view, seen[view.path]) for view in again if view.path in seen)]


def _by_value(heads: Sequence[View], found: _ByView) -> list[str]:
    """Files in which a value decides whether something is a weakness."""
    by_hit = {view.path for view, items in found if any(item.rule in BY_VALUE for item in items)}
    return [v.path for v in heads if v.path in by_hit or any(w in v.text.encode() for w in VALUE_WORDS)]


def _with_callers(
    found: _ByView,
    views: Sequence[View],
    tree: Tree,
    until: float,
    texts: Mapping[str, object],
    *,
    everywhere: bool,
) -> tuple[_ByView, list[tuple[str, str]]]:
    """The same after a second look at files that other files decide about: what they pass on to them, and
    what functions that they import make of a value. ``everywhere``: who calls is looked for in the whole
    tree for every file (base may have said it long ago), else only for those with a weakness. With the files
    of which not all was read.
    """
    weak = {view.path for view, items in found if any(_depends_on_caller(item) for item in items)}
    changed = [(view.path, view.text.encode("utf-8", "surrogatepass")) for view in views]
    sinks = [path for path, text in changed if path not in weak and any(word in text for word in SINK_WORDS)]
    if everywhere:
        weak, sinks = weak | {*sinks}, []
    own = dict(changed)
    near = callers_of(candidates(weak, tree) if weak else [], {p: own[p] for p in sorted(weak)})
    further = callers_of(may_call(sinks, changed), {p: own[p] for p in sinks})
    passed = {**near.passed, **further.passed}
    unread = [] if near.is_whole and further.is_whole else [(path, "its callers") for path in own]
    imported = texts.get("imported", {})
    imported = imported if isinstance(imported, dict) else {}
    again = [view for view in views if view.path in passed or view.path in imported]
    if not again:
        return found, unread
    better, late = _look(again, max(1.0, until - time.monotonic()), {"outside": passed, **texts})
    first = {path for path, _ in late}
    seen = {id(view) for view in again if view.path not in first}
    better = [(view, items) for view, items in better if id(view) in seen]
    return [*((view, items) for view, items in found if id(view) not in seen), *better], [*unread, *late]


@cache
def _topics() -> Mapping[str, str]:
    """Of the rules on careless code, by id."""
    return {rule.meta.id: rule.meta.topic for rule in ast_rules() if rule.weakness}


def _depends_on_caller(item: RuleHit) -> bool:
    return item.severity is Severity.MEDIUM and _topics().get(item.rule) in _BY_CALLER


_BY_CALLER = ("injection", "exec", "network", "file")
_MANIFEST = regex(
    r"(?:^|/)(?:pyproject\.toml|setup\.(?:py|cfg)|Pipfile|environment\.ya?ml|[^/]*requirements[^/]*\.(?:txt|in))$"
)
_DECLARING = 40
"""Manifests read to learn what a project declares."""


def _without_own(found: _ByView, head: Tree) -> _ByView:
    """Unknown imports that are modules of the tree, or named in one of its manifests, are known after all."""
    roots = {item.evidence["module"] for _, items in found for item in items if item.rule == _UNKNOWN}
    if not roots:
        return found
    paths = [entry.path for entry in head.entries()]
    parts = {part.partition(".")[0] for path in paths for part in path.split("/")}
    manifests = [path for path in paths if _MANIFEST.search(path)][:_DECLARING]
    text = b"\n".join(data for _, data in head.read_many(tuple(manifests))).decode("utf-8", "replace")
    said = re.sub(r"[-_.]+", "-", text.lower())
    own = {root for root in roots if root in parts or re.sub(r"[-_.]+", "-", root.lower()) in said}
    return [
        (view, kept)
        for view, items in found
        if (kept := [i for i in items if i.rule != _UNKNOWN or i.evidence["module"] not in own])
    ]


def _plugged() -> dict[str, object]:
    """The plugins whose rules the child is to load; versions, since what it says is kept by all of this."""
    if not (told := plugins.told()):
        return {}
    return {"plugins": os.environ[plugins.VARIABLE], "plugin_versions": told}


def _look(
    views: Sequence[View],
    deadline: float,
    options: Mapping[str, object] | None = None,
    imports: dict[str, list[str]] | None = None,
    asked: dict[str, list[str]] | None = None,
) -> tuple[_ByView, list[tuple[str, str]]]:
    """What was found in each view that has anything, and the files that could not be parsed."""
    files = [(view.path, view.text.encode("utf-8", "surrogatepass")) for view in views]
    results = scan_isolated(
        Reader("gate.prescreen.python_ast.scanner:scan_text", Scanned, parses=True, pure=True),
        files,
        options={**(options or {}), **_plugged()},
        deadline=deadline,
    )
    found: _ByView = []
    unlooked: list[tuple[str, str]] = []
    for view, result in zip(views, results, strict=True):
        if result.value is not None and result.value.hits:
            found.append((view, result.value.hits))
        if result.value is not None and imports is not None:
            imports[view.path] = result.value.imports
        if result.value is not None and asked is not None:
            asked[view.path] = result.value.asked
        reason = view.unreadable or ("" if result.outcome == "done" else result.reason or result.outcome)
        if result.value is not None and result.value.unfinished and not reason:
            reason = f"no time left for {_some(result.value.unfinished)}; its other rules looked"
        if reason and not view.guessed:
            unlooked.append((view.path, reason))
    return found, unlooked


def _some(rules: Sequence[str]) -> str:
    return ", ".join(rules[:3]) + (f" and {len(rules) - 3} more rules" if len(rules) > 3 else "")


def _findings(found: _ByView) -> Iterator[Finding]:
    theirs = plugin_rules()
    if not found:
        return
    metas = {rule.meta.id: rule.meta for rule in (*ast_rules(), *theirs)}
    for view, items in found:
        for item in items:
            meta = metas[item.rule]
            quoted = view.quote(item.first, min(item.last, item.first + 20))
            marks = _SUPPRESSION.search(quoted)
            finding = Finding.of(
                meta,
                item.message,
                view.location(item.first, item.last),
                shape=quoted,
                severity=item.severity,
                confidence=item.confidence,
                evidence={"code": view.quote(item.first).strip()[:200], **item.evidence},
            )
            if item.way and item.way[0] != item.first:
                steps = [replace(view.location(line), kind="related") for line in item.way[:-1]]
                said = f"line {steps[0].line}: {view.quote(item.way[0]).strip()}"[:200]
                finding = replace(
                    finding,
                    locations=(*finding.locations, *steps),
                    evidence={**finding.evidence, "from": said},
                )
            suppressed = marks.group(1).partition(":")[0].strip().lower() if marks else None
            yield replace(finding, suppressed_by=suppressed)
