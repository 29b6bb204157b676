"""JavaScript inside the driver: the moved clock, shortened sleeps, and which changed lines ran."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from gate.errors import InconclusiveError
from gate.model.run import NotExercised
from gate.plan.coverage import unreached
from gate.plan.javascript.calls import acting_lines
from gate.sandbox.images import runtimes
from tests.unit.inside.driver.harness import Driven, drive, lay_tree
from tests.unit.plan.test_coverage import record

YEARS = 731 * 86_400
RUNTIMES = ["node", "deno"]


@pytest.fixture(params=RUNTIMES)
def runtime(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """One runtime at a time, whatever else the machine has."""
    name: str = request.param
    try:
        found = str(runtimes.program()) if name == "deno" else shutil.which("node")
    except InconclusiveError:
        found = None
    if found is None:
        pytest.skip(f"no {name} on this machine")
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / name).symlink_to(found)
    monkeypatch.setattr("tests.unit.inside.driver.harness.PATH", str(folder))
    return name


def run(tmp_path: Path, path: str, source: str, *, call: bool = True, **options: object) -> Driven:
    tree = lay_tree(tmp_path / "t", {path: source})
    item = {"do": "javascript", "path": path, "call": call}
    driven = drive(tree, {"items": [item], "nap": 0.05, **options})
    assert driven.done, driven
    return driven


CLOCKS = """
    const { performance } = require("node:perf_hooks");
    class Later extends Date {}
    const now = new Date();
    const year = (text) => Number(/[0-9]{4}/.exec(text)[0]);
    const form = new Intl.DateTimeFormat("en", { year: "numeric", month: "long" });
    const told = {
      now: new Date(Date.now()).getFullYear(),
      made: now.getFullYear(),
      called: year(Date()),
      extended: new Later().getFullYear(),
      made_by_itself: new now.constructor().getFullYear(),
      text: year(form.format()),
      parts: Number(form.formatToParts().find((p) => p.type === "year").value),
      origin: new Date(performance.timeOrigin).getFullYear(),
      temporal: globalThis.Temporal ? Temporal.Now.plainDateISO().year : now.getFullYear(),
      zoned: globalThis.Temporal ? Temporal.Now.zonedDateTimeISO("UTC").year : now.getFullYear(),
    };
    const same = [
      new Date(0).getTime() === 0, Date.parse("2020-01-01") === 1577836800000,
      Date.UTC(2020) === 1577836800000,
      now instanceof Date, new Later() instanceof Later, Date.name === "Date", Date.length === 7,
      performance.now() < 1e6, form.format(0) === form.format(new Date(0)),
      Object.getPrototypeOf(now) === Date.prototype,
    ];
    console.log(JSON.stringify({ told, same }));
"""


def test_every_clock_is_moved_and_the_rest_is_as_it_was(tmp_path: Path, runtime: str) -> None:
    plain = run(tmp_path, "a.cjs", CLOCKS, call=False)
    later = run(tmp_path, "a.cjs", CLOCKS, call=False, clock=YEARS)
    before, after = json.loads(plain.stdout), json.loads(later.stdout)
    assert after["told"] == {name: year + 2 for name, year in before["told"].items()}
    assert all(before["same"])
    assert all(after["same"])
    assert later.item["clock_moved_in"] == "javascript"
    assert "clock_moved_in" not in plain.item


def test_sleeps_of_every_kind_are_short(tmp_path: Path, runtime: str) -> None:
    source = """
        import timers, { scheduler } from "node:timers/promises";
        import { promisify } from "node:util";
        await timers.setTimeout(3600000);
        await promisify(setTimeout)(3600000);
        await scheduler.wait(3600000);
        for await (const _ of timers.setInterval(3600000)) break;
        await new Promise((done) => setTimeout(done, 3600000));
        console.log("awake");
    """
    assert run(tmp_path, "a.mjs", source, call=False).stdout == "awake\n"


LINES = """
    // told from the text
    const twice = (n) => n * 2;
    export function f(mode) {
      if (mode === "unlock") {
        return twice(1);
      }
      /* nothing
         here */
      if (mode === globalThis.nobody) {
        return 4;
      }
      return 2;
    }
    function never() {
      return 5;
    }
    setTimeout(() => {
      globalThis.later = 1;
    }, 3600000);
"""
RAN = [2, 3, 4, 5, 9, 12, 17, 18, 19]
NOT = [10, 14, 15]


def test_which_lines_ran(tmp_path: Path, runtime: str) -> None:
    seen = run(tmp_path, "a.mjs", LINES, lines={"a.mjs": [[1, 30]]})
    assert seen.item["lines"] == {"a.mjs": RAN}
    assert seen.item["code"] == {"a.mjs": sorted(RAN + NOT)}
    assert unreached([record(seen.report)]) == (
        NotExercised(path="a.mjs", target="lines 10, 14-15", reason="no probe reached them"),
    )


MADE = """\
const defineDriver = (make) => make;
export const driver = defineDriver((opts = {}) => {
  let connection;
  const connect = () => {
    connection ??= { rows: [1] };
    return connection;
  };
  return {
    getInstance: connect,
    async getItem(key) {
      return connect().rows[key];
    },
    get size() {
      return 1;
    },
  };
});
export function limit(most) {
  return async (ctx, next) => {
    if (most > 1) return next();
    return undefined;
  };
}
export function theirs() {
  return JSON.parse;
}
"""


@pytest.mark.parametrize("path", ["web/a.mjs", "web/a.ts"])
def test_what_a_factory_gives_back_is_called(tmp_path: Path, runtime: str, path: str) -> None:
    driven = run(tmp_path, path, MADE, lines={path: [[1, MADE.count("\n")]]})
    if driven.item["outcome"] == "missing":
        pytest.skip("a Node without a loader for TypeScript")
    assert set(driven.item["lines"][path]) >= {2, 3, 4, 5, 6, 8, 9, 11, 14, 19, 20}
    assert driven.calls == {"driver": "returned", "limit": "returned", "theirs": "returned"}


def test_only_changed_lines_are_told_and_none_where_none_are_watched(tmp_path: Path, runtime: str) -> None:
    some = run(tmp_path, "a.mjs", LINES, lines={"a.mjs": [[4, 5], [14, 15]], "other.py": [[1, 9]]})
    assert some.item["lines"] == {"a.mjs": [4, 5]}
    assert some.item["code"] == {"a.mjs": [4, 5, 14, 15]}
    none = run(tmp_path, "a.mjs", LINES, lines={})
    assert not {"lines", "code", "unwatched"} & set(none.item)


def test_lines_of_a_commonjs_module(tmp_path: Path, runtime: str) -> None:
    source = """
        #!/usr/bin/env node
        exports.f = (n) => {
          if (n === globalThis.nobody) {
            return 1;
          }
          return 2;
        };
    """
    seen = run(tmp_path, "a.js", source, lines={"a.js": [[1, 9]]})
    assert seen.item["lines"] == {"a.js": [2, 3, 6]}
    assert seen.item["code"] == {"a.js": [2, 3, 4, 6]}


def test_lines_of_a_module_that_was_never_loaded(tmp_path: Path, runtime: str) -> None:
    seen = run(tmp_path, "a.mjs", 'import x from "left-pad";\nx();\n', lines={"a.mjs": [[1, 2]]})
    assert [(e.target, e.reason) for e in unreached([record(seen.report)])] == [
        ("import a.mjs", "needs left-pad"),
        ("lines 1-2", "no probe reached them"),
    ]


@pytest.mark.parametrize("runtime", ["deno"], indirect=True)
def test_typescript_is_told_by_the_lines_of_its_source(tmp_path: Path, runtime: str) -> None:
    source = """
        interface Rate { country: string }
        enum Mode { A, B }

        export function find(rates: Rate[], mode: Mode): number {
          type Local = {
            a: number;
          };
          if (mode === (globalThis as any).nobody) {
            return 1;
          }
          return rates.length;
        }
    """
    seen = run(tmp_path, "a.ts", source, lines={"a.ts": [[1, 20]]})
    assert seen.item["code"] == {"a.ts": [2, 4, 8, 9, 11]}
    assert seen.item["lines"] == {"a.ts": [2, 4, 8, 11]}


@pytest.mark.parametrize("runtime", ["deno"], indirect=True)
def test_what_cannot_be_told_is_said(tmp_path: Path, runtime: str) -> None:
    seen = run(tmp_path, "a.tsx", "export const a: number = 3;\n", lines={"a.tsx": [[1, 1]]})
    assert "code" not in seen.item
    (entry,) = unreached([record(seen.report)])
    assert entry.target == "the changed lines"
    assert entry.reason.startswith("which of them ran is not known: ")


@pytest.mark.parametrize("how", ["(() => {})", "(() => { throw new Error(); })"])
def test_an_engine_that_was_made_silent_is_told(tmp_path: Path, runtime: str, how: str) -> None:
    source = f'import {{ Session }} from "node:inspector";\nSession.prototype.post = {how};\n'
    seen = run(tmp_path, "a.mjs", source, lines={"a.mjs": [[1, 2]]})
    assert seen.item["unwatched"] == "the runtime does not tell"
    assert "code" not in seen.item


@pytest.mark.parametrize("runtime", ["node"], indirect=True)
def test_lines_before_an_end_are_not_lost(tmp_path: Path, runtime: str) -> None:
    source = "export function f() {\n  process.reallyExit(0);\n}\n"
    seen = run(tmp_path, "a.mjs", source, lines={"a.mjs": [[1, 3]]})
    assert seen.item["lines"] == {"a.mjs": [1, 2]}


def test_many_changed_lines_do_not_stop_the_driver(tmp_path: Path, runtime: str) -> None:
    spans = [[n, n] for n in range(1, 400, 2)]
    others = {f"lib/{'x' * 60}{n}.js": spans for n in range(40)}  # more than a pipe holds
    seen = run(tmp_path, "a.mjs", LINES, lines={**others, "a.mjs": [[1, 30]]})
    assert seen.item["lines"] == {"a.mjs": RAN}


@pytest.mark.parametrize(
    "line",
    [
        "export const f = (url) => process.env.LIVE && fetch(url);",
        "export const f = () => ({ a: 1, b: () => fetch('http://a.example') }).a;",
        "export const f = (n) => (n > 1e6 ? fetch('http://a.example') : 0);",
        "export function f() { if (process.env.LIVE) { fetch('http://a.example'); } return 1; }",
        "if (process.env.LIVE) await fetch('http://a.example');",
    ],
)
def test_a_part_of_a_line_that_did_not_run_is_told(tmp_path: Path, runtime: str, line: str) -> None:
    seen = run(tmp_path, "a.mjs", line + "\n", lines={"a.mjs": [[1, 1]]})
    (entry,) = unreached([record(seen.report)], {"a.mjs": acting_lines(line)})
    assert (entry.target, entry.reason) == ("line 1", "can reach the network, and no probe reached it")


@pytest.mark.parametrize(
    "line",
    [
        "export const f = () => process.env.LIVE || URL.canParse(eval('1')) || 2;",
        "export const f = () => { if (process.env.LIVE) return; eval('1'); };",
        "export const f = () => new Promise((yes, reject) => (eval('1') ? yes() : reject(new Error('no'))));",
        "export const f = () => { if (process.env.LIVE) throw new Error('no'); eval('1'); };",
    ],
)
def test_what_did_run_on_a_line_is_not(tmp_path: Path, runtime: str, line: str) -> None:
    seen = run(tmp_path, "a.mjs", line + "\n", lines={"a.mjs": [[1, 1]]})
    assert acting_lines(line)
    assert unreached([record(seen.report)], {"a.mjs": acting_lines(line)}) == ()


def test_a_bundle_that_holds_a_long_word_is_told_at_once(tmp_path: Path, runtime: str) -> None:
    source = f"export const f = (n) => (n > 1e6 ? fetch('{'QUJD' * 300_000}') : 0);\n"
    seen = run(tmp_path, "a.mjs", source, lines={"a.mjs": [[1, 1]]})  # by squares: hours
    assert (seen.item["lines"], seen.item["acted"]) == ({"a.mjs": [1]}, {"a.mjs": []})


WANTS = """
    if (!process.env.SHOP_TOKEN) throw new Error("Missing environment variable SHOP_TOKEN");
    module.exports.sum = (a, b) => a + b;
"""


def test_a_module_that_asks_for_a_variable_gets_one(tmp_path: Path, runtime: str) -> None:
    driven = run(tmp_path, "a.cjs", WANTS)
    assert (driven.item["outcome"], driven.calls) == ("completed", {"sum": "returned"})


def test_a_module_gets_the_variables_of_the_example_where_it_cannot_be_loaded_without(
    tmp_path: Path, runtime: str
) -> None:
    source = """
        const { env } = process;
        if (env.SHOP_LEVEL !== "two") throw new Error(`not set: ${Object.keys(env).length}`);
        module.exports.sum = (a, b) => a + b;
    """
    tree = lay_tree(tmp_path / "t", {"a.cjs": source, ".env.example": "SHOP_LEVEL=two\n"})
    item = {"do": "javascript", "path": "a.cjs", "call": True, "env": ".env.example"}
    other = {"do": "javascript", "path": "b.cjs", "call": True}
    (tree / "b.cjs").write_text("if (process.env.SHOP_LEVEL) throw new Error('of another item');")
    driven = drive(tree, {"items": [item, other], "nap": 0.05})
    assert [one["outcome"] for one in driven.report["items"]] == ["completed", "completed"]


PAGE = """
    const base = document.title ? window.innerWidth : 0;
    class Basket extends HTMLElement {
      connectedCallback() { this.textContent = base; }
    }
    customElements.define("shop-basket", Basket);
    document.querySelector("#a").addEventListener("click", () => console.log("clicked"));
    export function keep(query) {
      return [history.length, matchMedia(query).matches, getComputedStyle(document.body).color];
    }
"""
CALLED = """
    export function title(text) {
      const before = 1;
      document.title = text;
      return before;
    }
    export const server = () => typeof window;
"""


def test_code_for_a_browser_runs_with_its_names(tmp_path: Path, runtime: str) -> None:
    driven = run(tmp_path, "a.mjs", PAGE)
    assert (driven.item["outcome"], driven.calls["keep"]) == ("completed", "returned")
    again = run(tmp_path / "called", "b.mjs", CALLED)
    calls = [tuple(call) for call in again.item["calls"]]
    assert again.item["outcome"] == "completed"
    assert ("title", "ReferenceError") in calls
    assert ("title", "returned") in calls


def test_a_library_that_says_it_needs_a_page_gets_one(tmp_path: Path, runtime: str) -> None:
    asks = "if (typeof document === 'undefined') throw new Error('Invariant failed: history needs a DOM');"
    assert run(tmp_path, "a.mjs", f"{asks}\nexport const a = document.body;").item["outcome"] == "completed"
    names = "export const is = (a) => a instanceof HTMLVideoElement;\nis(new DragEvent('a'), Document);"
    assert run(tmp_path / "names", "a.mjs", names).item["outcome"] == "completed"
    told = run(tmp_path / "other", "a.mjs", "throw new Error('the kingdom is lost');").item
    assert (told["outcome"], told["exception"]) == ("exception", "Error")


def test_what_one_script_lays_on_the_window_another_finds(tmp_path: Path, runtime: str) -> None:
    kit = "const page = typeof window === 'undefined' ? null : window;\nif (page) page.Keys = { on: 1 };"
    (tmp_path / "t").mkdir()
    (tmp_path / "t/kit.mjs").write_text(kit)
    driven = run(tmp_path, "a.mjs", 'import "./kit.mjs";\nexport const a = Keys.on;')
    assert driven.item["outcome"] == "completed"


def test_code_that_lacks_a_name_of_its_own_gets_none(tmp_path: Path, runtime: str) -> None:
    driven = run(tmp_path, "a.mjs", "export const a = nobodyHasThis.b;")
    assert (driven.item["outcome"], driven.item["exception"]) == ("exception", "ReferenceError")
