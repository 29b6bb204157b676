# ruff: noqa: E501 - one line for each sample
"""Which guards of JavaScript and TypeScript a change reaches: by what their modules import."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.change.git_range import open_range
from gate.model.guard_calls import GuardTarget
from gate.plan.guards import find_guards, guard_probe
from gate.plan.probes import job_of
from tests.e2e.pulls import Pull, build

_NAMES = "export const plain = (x) => x;\n"
_USES = "export const isOwner = (user, note) => plain(user) === plain(note);\n"
_ADMIN = "module.exports = (req, res, next) => (isAdmin(req.user) ? next() : res.status(403).end());\n"
_CONSTANT = "const ROLES = ['a'];\nexport const known = (role) => ROLES.includes(role);\n"


def reached(
    base: dict[str, str | bytes | None], changed: str, after: str, tmp_path: Path
) -> tuple[GuardTarget, ...]:
    repo = build(Pull(name="x", base=base, head={changed: after}, verdicts=()), tmp_path)
    with open_range(repo, "main", "head") as opened:
        return find_guards(opened.change.files, opened.base, opened.head)


@pytest.mark.parametrize(
    ("files", "changed", "old", "new", "name"),
    [
        ({"src/a.js": 'import { plain } from "./names.js";\n' + _USES, "src/names.js": _NAMES}, "src/names.js", "=> x", "=> 1", "isOwner"),
        ({"src/a.ts": 'import { plain as same } from "@/names";\n' + _USES.replace("plain", "same"), "src/names.ts": _NAMES}, "src/names.ts", "=> x", "=> 1", "isOwner"),
        ({"src/a.ts": 'import { plain } from "../lib";\n' + _USES, "lib/index.ts": 'export * from "./names";\n', "lib/names.ts": _NAMES}, "lib/names.ts", "=> x", "=> 1", "isOwner"),
        ({"src/a.js": 'const { known } = require("./roles");\nexports.hasRole = (user) => known(user.role);\n', "src/roles.js": _CONSTANT}, "src/roles.js", "['a']", "['a', 'b']", "hasRole"),
        ({"src/a.js": 'const ALLOWED = require("./allowed.json");\nexports.isAllowed = (x) => ALLOWED.includes(x);\n', "src/allowed.json": '["a"]\n'}, "src/allowed.json", '"a"', '"a", "b"', "isAllowed"),
        ({"src/require-staff.js": 'const isAdmin = require("./kinds");\n' + _ADMIN, "src/kinds.js": "module.exports = (user) => user.admin;\n"}, "src/kinds.js", "user.admin", "user.level", "requireStaff"),
        ({"src/a.js": 'import { Rule } from "./rule.js";\nexport class Access extends Rule { canEdit(u) { return this.holds(u); } }\n', "src/rule.js": "export class Rule { holds(u) { return u.ok; } }\n"}, "src/rule.js", "u.ok", "u", "Access.canEdit"),
        ({"src/a.js": 'import { keyOf } from "./keys.js";\nexport function limiter() {\n  return { allow(k) { return keyOf(k); } };\n}\n', "src/keys.js": "export const keyOf = (k) => k;\n"}, "src/keys.js", "=> k", "=> 1", "limiter.allow"),
    ],
    ids=["helper", "alias-and-other-name", "barrel", "constant-behind-a-helper", "data", "exported-without-a-name", "base-class", "given-back"],
)  # fmt: skip
def test_is_reached(
    files: dict[str, str], changed: str, old: str, new: str, name: str, tmp_path: Path
) -> None:
    found = reached(dict(files), changed, files[changed].replace(old, new), tmp_path)
    assert [(one.name, one.changed) for one in found] == [(name, False)]


@pytest.mark.parametrize(
    "guard",
    [
        'import { plain } from "./others.js";\n' + _USES,
        'import { plain } from "./names.js";\n' + _USES.replace("export ", ""),
        'import { plain } from "./names.js";\nexport const useLogin = (user) => plain(user);\n',
        'import { plain } from "./names.js";\nexport const greet = (user) => plain(user.name);\n',
        'import { plain } from "./names.js";\nimport x from "y";\nexport const isOwner = (a, b) => a === b;\n',
    ],
    ids=["of-another-module", "not-exported", "hook-of-react", "names-a-user", "does-not-use-it"],
)
def test_is_not_reached(guard: str, tmp_path: Path) -> None:
    files: dict[str, str | bytes | None] = {
        "src/a.js": guard,
        "src/names.js": _NAMES,
        "src/others.js": _NAMES,
    }
    assert reached(files, "src/names.js", _NAMES.replace("=> x", "=> 1"), tmp_path) == ()


def test_one_program_asks_all_modules(tmp_path: Path) -> None:
    uses = 'import { plain } from "./names.js";\n' + _USES
    files: dict[str, str | bytes | None] = {"src/a.js": uses, "src/b.js": uses, "src/names.js": _NAMES}
    repo = build(
        Pull(name="x", base=files, head={"src/names.js": _NAMES.replace("=> x", "=> 1")}, verdicts=()),
        tmp_path,
    )
    with open_range(repo, "main", "head") as opened:
        targets = find_guards(opened.change.files, opened.base, opened.head)
        probe = guard_probe(targets, opened.change.files[0], frozenset(), "head", 0.0)
    (item,) = job_of(probe)["items"]
    assert item["script"]
    assert [(one["path"], one["name"]) for one in item["targets"]] == [
        ("src/a.js", "isOwner"),
        ("src/b.js", "isOwner"),
    ]
