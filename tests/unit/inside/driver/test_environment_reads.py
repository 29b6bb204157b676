"""The driver tells which variables the code asks for; real drivers, no sandbox."""

from __future__ import annotations

from pathlib import Path

from tests.unit.inside.driver.harness import imported, lay_tree


def asked_of(tree: Path, source: str) -> dict[str, object]:
    lay_tree(tree, {"cart.py": source})
    seen = imported(tree, "cart")
    told: dict[str, object] = seen.report["items"][0]["environment"]
    return told


def test_variables_that_are_asked_for_are_told(tmp_path: Path) -> None:
    source = """
        import atexit, os
        os.environ["SHOP"] = "1"
        assert "SHOP" in os.environ and os.getenv("SHOP") == "1" and os.environb[b"SHOP"] == b"1"
        assert os.environ.get("NO_SUCH") is None
        atexit.register(os.getenv, "HOME")
        """
    told = asked_of(tmp_path / "t", source)
    assert told == {"asked": ["HOME", "SHOP"], "absent": ["NO_SUCH"], "more": False}


def test_what_a_library_looks_for_in_vain_is_not_told(tmp_path: Path) -> None:
    told = asked_of(tmp_path / "t", "import tempfile, os\ntempfile.gettempdir()\nos.environ.get('A' + 'B')\n")
    assert told["absent"] == ["AB"]


def test_all_of_them_are_each_of_them(tmp_path: Path) -> None:
    for number, line in enumerate(["dict(os.environ)", "copy.deepcopy(os.environ)", "repr(os.environ)"]):
        told = asked_of(tmp_path / str(number), f"import copy, os\n{line}\n")
        assert "PATH" in told["asked"], line  # type: ignore[operator]


def test_what_the_standard_library_puts_back_is_not_asked_for(tmp_path: Path) -> None:
    source = """
        import os, urllib.request
        from unittest import mock
        with mock.patch.dict(os.environ, {"SHOP": "1"}):
            urllib.request.getproxies_environment()
        """
    assert "PATH" not in asked_of(tmp_path / "t", source)["asked"]  # type: ignore[operator]


def test_what_a_fork_asks_for_nobody_tells(tmp_path: Path) -> None:
    told = asked_of(tmp_path / "t", "import os\nif not os.fork(): os._exit(0)\nos.wait()\n")
    assert told["more"] is True


def test_what_ended_before_its_last_word_may_have_asked_for_more(tmp_path: Path) -> None:
    assert asked_of(tmp_path / "t", "import os\nos._exit(3)\n")["more"] is True
