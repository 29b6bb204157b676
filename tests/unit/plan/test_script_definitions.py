# ruff: noqa: E501 - texts of modules
"""What a module of JavaScript or TypeScript defines, exports and uses by name."""

from __future__ import annotations

import pytest

from gate.plan.javascript.definitions import default_of, read_script_facts
from gate.plan.python_source import Facts


def facts(text: str, path: str = "src/access.ts") -> Facts:
    found = read_script_facts({path: text.encode()})[path]
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("export function canEdit(u) { return u.ok }", {"canEdit"}),
        ("export const canEdit = (u) => u.ok;", {"canEdit"}),
        ("const f = (u) => u.ok;\nexport { f as canEdit };", {"canEdit"}),
        ("function canEdit(u) { return u.ok }\nmodule.exports = { canEdit };", {"canEdit"}),
        ("module.exports = { mayRead: f, canEdit(u) { return u.ok } };\nfunction f(u) {}", {"canEdit", "mayRead"}),
        ("exports.canEdit = async function (u) { return u.ok };", {"canEdit"}),
        ("exports.canEdit = wrapped(async (u) => u.ok);", {"canEdit"}),
        ("export default async (req, res, next) => next();", {"access"}),
        ("module.exports = function requireAdmin(req, res, next) { next(); };", {"requireAdmin"}),
        ("export class Policy { canEdit(u) { return u.ok } allow = (u) => u.ok; }", {"Policy.canEdit", "Policy.allow"}),
        ("export const guards = { canEdit(u) { return u.ok }, may: (u) => u.ok };", {"guards.canEdit", "guards.may"}),
        ("export function limiter() { return { allow(k) { return k } } }", {"limiter", "limiter.allow"}),
        ("export function limiter() { function allow(k) { return k }\n return { allow } }", {"limiter", "limiter.allow"}),
        ("export const canEdit = (u: User): u is Admin => u.ok;", {"canEdit"}),
    ],
)  # fmt: skip
def test_names_by_which_others_reach_a_function(text: str, names: set[str]) -> None:
    found = facts(text)
    reached = {one.name for one in found.definitions if one.name.partition(".")[0] in (found.exported or ())}
    assert {name for name in reached if not name.endswith("__init__")} - {"Policy"} == names


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ('import { plain as same } from "./names.js";', "plain"),
        ('import same from "./names.js";', "default@names"),
        ('import same from "@/lib/names/index.js";', "default@names"),
        ('const same = require("./names");', "default@names"),
        ('const { plain: same } = require("./names");', "plain"),
        ('const same = require("./names").plain;', "default@names"),
    ],
)
def test_what_a_name_stands_for(line: str, word: str) -> None:
    found = facts(f"{line}\nexport const canEdit = (u, d) => same(u.tenant, d.tenant);\n")
    (guard,) = (one for one in found.definitions if one.name == "canEdit")
    assert word in guard.uses
    assert default_of("names") in found.imports


def test_lines_of_variables_and_imports() -> None:
    found = facts('import { a } from "./a";\nconst ROLES = new Set([\n  "x",\n]);\n')
    assert {("a", 1, 1), ("ROLES", 2, 4)} <= set(found.names)


def test_statuses_that_refuse_are_used() -> None:
    found = facts("export const ask = (req, res, next) => (req.user ? next() : res.status(403).end());")
    assert "HTTP_403" in found.definitions[0].uses


def test_what_cannot_be_read_hides_nothing_else() -> None:
    found = facts(
        "export const canEdit = (u) => u.ok;\nexport const = ;\nexport function mayRead(u) { return u }\n"
    )
    assert {"canEdit"} <= {one.name for one in found.definitions}
