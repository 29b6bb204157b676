"""The HTML page in a real browser: what it looks like, who can use it, what it asks for, what its keys do."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from gate.model.excerpt import Excerpt
from gate.report.html import HtmlReporter
from tests.browser import Browser, Page, browser
from tests.golden import sample
from tests.npm_packages import npm_packages
from tests.paths import TESTS

pytestmark = pytest.mark.xdist_group("browser")
SCREENS: Final = TESTS / "golden" / "screens"
SIZES: Final = {"wide": (1280, 1300), "tablet": (768, 1300), "phone": (390, 1300)}
TOLERANCE: Final = 4.0
"""Mean difference of a channel, of 255, at an eighth of the size: other fonts pass, other layouts do not."""

_DIFFERENCE: Final = """(async () => {
  const pixels = async (data) => {
    const picture = new Image();
    picture.src = "data:image/png;base64," + data;
    await picture.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(picture.width / 8);
    canvas.height = Math.ceil(picture.height / 8);
    const drawing = canvas.getContext("2d");
    drawing.imageSmoothingQuality = "high";
    drawing.drawImage(picture, 0, 0, canvas.width, canvas.height);
    return drawing.getImageData(0, 0, canvas.width, canvas.height).data;
  };
  const [one, other] = [await pixels(%s), await pixels(%s)];
  if (one.length !== other.length) return 255;
  let sum = 0;
  for (let n = 0; n < one.length; n++) sum += Math.abs(one[n] - other[n]);
  return sum / one.length;
})()"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as one:
        yield one


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Page:
    return chromium.page()


@pytest.fixture(scope="module")
def blank(chromium: Browser) -> Page:
    """A page without a policy, to compare pictures in."""
    return chromium.page()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    lines = ("def ping() -> None:", "    data = dict(os.environ)", "    send(data)")
    code = (Excerpt(path="shop/telemetry.py", first=32, lines=lines),)
    forge = f"https://forge.example/shop/shop/blob/{sample.HEAD}"
    file = tmp_path_factory.mktemp("page") / "report.html"
    report = replace(sample.hostile(), excerpts=code, blob_url=forge)
    file.write_text(HtmlReporter().render(report), encoding="utf-8")
    return file.as_uri()


def _difference(blank: Page, one: bytes, other: bytes) -> float:
    texts = (json.dumps(base64.b64encode(picture).decode()) for picture in (one, other))
    return float(blank.evaluate(_DIFFERENCE % tuple(texts)))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", sorted(SIZES))
def test_it_looks_as_it_did(page: Page, blank: Page, address: str, size: str, *, dark: bool) -> None:
    """GATE_UPDATE_GOLDEN=1 takes the pictures anew; look at them."""
    width, height = SIZES[size]
    page.look(width=width, height=height, dark=dark)
    page.open(address)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "it scrolls sideways"
    kept, picture = SCREENS / f"{size}-{'dark' if dark else 'light'}.png", page.picture()
    if os.environ.get("GATE_UPDATE_GOLDEN"):
        kept.parent.mkdir(exist_ok=True)
        kept.write_bytes(picture)
    assert _difference(blank, picture, kept.read_bytes()) < TOLERANCE


def test_the_comparison_sees_another_page(page: Page, blank: Page, address: str) -> None:
    width, height = SIZES["wide"]
    page.look(width=width, height=height)
    page.open(address)
    before = page.picture()
    page.evaluate("document.querySelector('.meters').remove()")
    assert _difference(blank, before, page.picture()) > TOLERANCE
    assert _difference(blank, before, before) == 0


def test_it_asks_for_nothing_and_its_policy_refuses_none_of_its_own(page: Page, address: str) -> None:
    page.open(address)
    assert page.requests == [address]
    assert page.complaints == []
    assert page.evaluate("document.querySelector('.tools').hidden") is False  # our script ran
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {text: 'window.x = 1'}))"
    )
    assert page.evaluate("window.x") is None  # and no other one does


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_no_fault(page: Page, address: str, *, dark: bool) -> None:
    axe = npm_packages("axe-core@4.10.3") / "axe-core" / "axe.min.js"
    page.look(width=1280, dark=dark)
    page.open(address)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; }); 1")
    page.evaluate(axe.read_text(encoding="utf-8") + "; 1")
    found = page.evaluate(
        "axe.run().then((r) => r.violations.map((v) => [v.id, v.nodes.map((n) => n.html)]))"
    )
    assert found == []


def test_filter_keys_and_deep_links(page: Page, address: str) -> None:
    page.look(width=1280)
    page.open(address)
    count = page.evaluate("document.querySelectorAll('details.finding').length")
    page.key("/")
    assert page.evaluate("document.activeElement.id") == "filter"
    for letter in "jitter":
        page.key(letter)
    assert page.evaluate("document.getElementById('told').textContent") == f"1 of {count} findings shown"
    page.key("Escape")
    assert page.evaluate("document.querySelectorAll('details.finding[hidden]').length") == 0
    page.key("j")
    assert page.evaluate("document.activeElement.classList.contains('incident')") is True
    page.key("o")
    assert page.evaluate("[...document.querySelectorAll('details.finding')].every((d) => d.open)") is True
    name = page.evaluate("[...document.querySelectorAll('details.finding')].at(-1).id")
    page.open("about:blank")
    page.open(f"{address}#{name}")
    assert page.evaluate(f"document.getElementById({json.dumps(name)}).open") is True
    page.evaluate("document.querySelector('button.chip.low').click()")
    assert page.evaluate("document.querySelector('details.finding.low').hidden") is True


def test_without_a_script_everything_can_be_read(page: Page, address: str) -> None:
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page.open(address)
        text = page.evaluate("document.body.innerText")
    finally:
        page.call("Emulation.setScriptExecutionDisabled", value=False)
    assert "telemetry.py" in text
    assert page.evaluate("document.querySelector('.tools').hidden") is True


def test_print_shows_findings_opened(page: Page, address: str, tmp_path: Path) -> None:
    page.open(address)
    paper = tmp_path / "report.pdf"
    paper.write_bytes(base64.b64decode(page.call("Page.printToPDF")["data"]))
    assert paper.stat().st_size > 10_000
    assert page.evaluate("[...document.querySelectorAll('details.finding')].every((d) => d.open)") is True
