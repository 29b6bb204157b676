"""The documents as a site: built, no link that leads nowhere, served and clicked through in a browser."""

from __future__ import annotations

import functools
import http.server
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from gate import process
from tests.browser import browser
from tests.paths import REPOSITORY

_SEARCH: Final = """(async () => {
  const input = document.querySelector(".md-search__input");
  input.focus();
  input.value = "canary";
  input.dispatchEvent(new Event("input", { bubbles: true }));
  input.dispatchEvent(new KeyboardEvent("keyup"));
  for (let n = 0; n < 300; n++) {
    await new Promise((done) => setTimeout(done, 100));
    if (document.querySelector(".md-search-result__item")) return true;
  }
  return false;
})()"""

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("docs-site")]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    done = process.run([sys.executable, REPOSITORY / "scripts/docs_site.py", "--to", folder], deadline=280)
    assert done.ok, done.stderr.decode()
    return folder / "site"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    handler = functools.partial(_Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


def test_the_site_is_built_and_no_link_in_it_leads_nowhere(site: Path) -> None:
    pages = {page.name for page in site.rglob("*.html")}
    assert {"index.html", "how-to.html", "command-line.html", "canary-read.html"} <= pages
    assert "--write-tests" in (site / "reference/command-line.html").read_text()


def test_every_page_of_the_menu_opens_and_asks_nobody_else(address: str) -> None:
    with browser() as chromium:
        page = chromium.page()
        page.look(width=1280)
        page.open(address)
        links = page.evaluate(
            "[...new Set([...document.querySelectorAll('.md-nav a.md-nav__link')].map((a) => a.href))]"
            ".filter((href) => !href.includes('#'))"
        )
        assert len(links) > 25
        for link in links:
            page.open(link)
            assert page.evaluate("document.querySelector('article h1') !== null"), link
            assert [request for request in page.requests if not request.startswith((address, "data:"))] == []
            assert page.complaints == [], link
        page.open(address)
        assert page.evaluate(_SEARCH)
