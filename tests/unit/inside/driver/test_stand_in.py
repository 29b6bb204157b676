# ruff: noqa: E501 - one line for each way is easier to read
"""Code behind an import of a missing package still runs, and the report still says what was missing."""

from __future__ import annotations

import http.server
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.unit.inside.driver.harness import drive, imported, lay_tree

MARK = 'open("ran", "w").close()'


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        pytest.param("import nothere, nothere.deep as d\n{mark}", [], id="import"),
        pytest.param("from nothere.deep import thing, Other\nthing(1, 2)[3].x()\n{mark}", [], id="from"),
        pytest.param("from nothere import *\n{mark}", [], id="star"),
        pytest.param("import nothere\n@nothere.route('/')\ndef f(): {mark}", ["f"], id="decorator-with-arguments"),
        pytest.param("from nothere import deco\n@deco\ndef f(): {mark}", ["f"], id="decorator"),
        pytest.param("import nothere\nclass A(nothere.Base):\n def m(self):\n  self.other()\n  {mark}", ["A.m"], id="base-class"),
        pytest.param("import nothere as n\nclass A(n.Base, n.Mixin, dict):\n x: int = n.Field(1)\n{mark}", [], id="two-bases"),
        pytest.param("import nothere as n\ntry:\n raise n.SomeError('x')\nexcept n.SomeError: {mark}", [], id="exception"),
        pytest.param("import nothere as n\nwith n.open() as f:\n for line in f: {mark}", [], id="with-and-for"),
        pytest.param("import nothere as n\nasync def f():\n async with n.S() as s:\n  await s.get()\n  {mark}", ["f"], id="async"),
        pytest.param("import nothere as n\nx = (n.a + 1) * 2 / n.b\nif not x > 3: {mark}", [], id="arithmetic"),
        pytest.param("import nothere as n\nopen(n.path).read(); int(n.x); f'{n}'; len(n.x)\nn.x.y = 1\nn.x[1] = 2\n{mark}", [], id="conversions"),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_code_goes_on(tmp_path: Path, source: str, calls: list[str]) -> None:
    tree = lay_tree(tmp_path / "t", {"cart.py": source.replace("{mark}", MARK) + "\n"})
    seen = imported(tree, "cart", calls)
    assert (tree / "ran").exists(), seen
    assert seen.done
    assert (seen.item["outcome"], seen.item["missing"], seen.item["stand_in"]) == ("missing", "nothere", True)


def test_part_of_a_real_package_is_not_stood_in_for(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"cart.py": f"import nothere\nimport json.gone\n{MARK}\n"})
    imported(tree, "cart")
    assert not (tree / "ran").exists()


@pytest.mark.parametrize(
    ("source", "missing"),
    [
        ("from ._version import __version__, version_tuple\n__version__.split('.')", "shop._version"),
        ("from ._speedups import fast\nfast(1)", "shop._speedups"),
        ("import importlib.metadata as m\nm.version('shop').split('.')", "shop to be installed"),
    ],
)
def test_what_a_build_would_have_made(tmp_path: Path, source: str, missing: str) -> None:
    tree = lay_tree(tmp_path / "t", {"shop/__init__.py": source + "\n", "shop/cart.py": MARK + "\n"})
    seen = imported(tree, "shop.cart")
    assert (tree / "ran").exists(), seen
    assert seen.item["missing"] == missing
    assert seen.done


def test_how_the_second_try_ends_says_nothing(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"cart.py": "import nothere\nwhile True: pass\n"})
    seen = imported(tree, "cart", seconds=1)
    assert seen.done
    assert seen.item["outcome"] == "missing"


@contextmanager
def listening() -> Iterator[tuple[str, list[str]]]:
    """A server on this machine that notes what it is asked."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            asked.append(f"{self.command} {self.path} {body} {self.headers.get('X-Key', '')}".strip())
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"said")

        do_GET = do_POST = do_PUT = answer  # noqa: N815 - names that http.server asks for

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            return

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_http_clients_make_their_requests(tmp_path: Path) -> None:
    source = f"""
        import nothere, requests, httpx
        def f():
            requests.post(BASE + "/a", data={{"k": "v"}}, headers={{"X-Key": "1"}})
            with requests.Session() as session:
                assert session.get(BASE + "/b").text == "said"
            httpx.request("PUT", BASE + "/c", content=b"raw")
            requests.get("no url at all")
            try:
                requests.get("http://127.0.0.1:1/")
            except requests.exceptions.ConnectionError:
                {MARK}
        """
    with listening() as (base, asked):
        tree = lay_tree(tmp_path / "t", {"cart.py": source.replace("BASE", repr(base))})
        seen = drive(
            tree,
            {"items": [{"do": "import", "module": "cart", "path": "cart.py", "calls": ["f"]}]},
            python=(sys.executable, "-S"),
        )
    assert asked == ["POST /a k=v 1", "GET /b", "PUT /c raw"], seen
    assert (tree / "ran").exists(), seen
