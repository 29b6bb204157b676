"""React components are drawn, their fields filled and their buttons pressed, with and without a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.inside.driver.javascript.job import run

LOGIN = """\
import { useEffect, useState } from "react";
export function Login({ title }: { title: string }) {
  const [name, setName] = useState("");
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    setError(title);
  }, [title]);
  function submit(event: { preventDefault(): void }) {
    event.preventDefault();
    setError(null);
  }
  return (
    <form onSubmit={submit}>
      <input value={name} onChange={(e) => {
        setName(e.target.value);
      }} />
      {error && <p>{error}</p>}
      <button type="button" onClick={() => {
        setName("");
      }}>Clear {import.meta.env.VITE_TITLE}</button>
    </form>
  );
}
"""
BODY = {3, 4, 6, 9, 10, 12, 13, 15, 19}
REACT = ["react@19.2.3", "react-dom@19.2.3", "sucrase@3.35.1"]
NAMED = """\
import { Helmet } from "named";
import all from "named";
export const kind = `${typeof Helmet} ${typeof all}`;
export const title: string = import.meta.env.VITE_TITLE;
export function check() {
  if (kind === "function string" && title === "a title") {
    return true;
  }
}
"""


@pytest.mark.parametrize(
    "page", [[], ["happy-dom@20.0.11"], ["jsdom@27.3.0"]], ids=["text", "happy", "jsdom"]
)
def test_a_component_and_its_handlers_run(tmp_path: Path, page: list[str]) -> None:
    told = run(tmp_path, {"Login.tsx": LOGIN}, "Login.tsx", *REACT, *page)
    assert told.lines >= BODY, told


def test_names_of_a_package_that_only_running_it_tells(tmp_path: Path) -> None:
    files = {
        "node_modules/named/package.json": '{"name": "named", "main": "index.js"}',
        "node_modules/named/index.js": """\
            const all = { Helmet() {}, default: "as compilers understand it", __esModule: true };
            for (const [name, value] of Object.entries(all)) exports[name] = value;
        """,
        ".env.example": 'VITE_TITLE="a title"\nSECRET=no\n',
        "src/named.ts": NAMED,
    }
    told = run(tmp_path, files, "src/named.ts")
    assert told.report["outcome"] == "completed", told
    assert 7 in told.lines


LACKS = """\
import got, { type Options, post as send } from "no-such-package";
import * as all from "@no/such";
const options: Options = {};
export function act() {
  send("x", options);
  return [got, all.default];
}
"""


def test_a_package_that_is_not_there_has_a_stand_in(tmp_path: Path) -> None:
    told = run(tmp_path, {"lacks.ts": LACKS}, "lacks.ts")
    assert told.report["outcome"] == "missing"
    assert told.report["missing"] == "no-such-package"
    assert told.report["stand_in"] is True
    assert told.lines >= {3, 5, 6}
