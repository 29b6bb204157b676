"""A test run in which nothing was collected is no look, and says with which exception it ended."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.unit.inside.driver.harness import Driven, drive, lay_tree

TEST = {"tests/test_a.py": "def test_one():\n    pass\n"}
PLAIN = ("-S",)


def run_tests(tmp_path: Path, files: dict[str, str], *flags: str, only: str = "") -> Driven:
    tree = lay_tree(tmp_path / "t", files)
    paths = [only] if only else [name for name in files if "conftest" not in name]
    seen = drive(tree, {"items": [{"do": "test", "paths": paths}]}, python=(sys.executable, *flags))
    assert seen.done, seen
    return seen


def test_a_conftest_that_fails_is_no_test_run(tmp_path: Path) -> None:
    seen = run_tests(tmp_path, {"tests/conftest.py": "raise RuntimeError('no settings')\n", **TEST})
    assert seen.item["outcome"] == "uncollected"
    assert (seen.item["exception"], seen.item["message"]) == ("RuntimeError", "no settings")


def test_a_conftest_without_its_module_needs_it(tmp_path: Path) -> None:
    seen = run_tests(tmp_path, {"tests/conftest.py": "import nothere\n", **TEST})
    assert seen.item["outcome"] == "missing"
    assert seen.item["missing"] == "nothere"
    assert seen.item["stand_in"] is True


def test_what_pytest_refuses_to_start_with_is_told(tmp_path: Path) -> None:
    files = {"pytest.ini": "[pytest]\nrequired_plugins = pytest-nothere\n", **TEST}
    seen = drive(lay_tree(tmp_path / "t", files), {"items": [{"do": "test", "paths": ["tests/test_a.py"]}]})
    assert seen.item["outcome"] == "uncollected"
    assert "UsageError" in seen.item["message"]
    assert "pytest-nothere" in seen.item["message"]


def test_a_conftest_deeper_down_fails_the_same(tmp_path: Path) -> None:
    files = {"tests/a/conftest.py": "1 / 0\n", "tests/a/test_a.py": TEST["tests/test_a.py"]}
    seen = run_tests(tmp_path, files)
    assert seen.item["outcome"] == "uncollected"
    assert "ZeroDivisionError" in str([seen.item.get("exception"), seen.item.get("message")])


@pytest.mark.parametrize("flags", [(), PLAIN], ids=["pytest", "no-pytest"])
def test_files_without_a_test_are_no_test_run(tmp_path: Path, flags: tuple[str, ...]) -> None:
    seen = run_tests(tmp_path, {"tests/test_a.py": "x = 1\n"}, *flags)
    assert seen.item["outcome"] == "uncollected"
    assert "no test" in seen.item["message"]


@pytest.mark.parametrize("flags", [(), PLAIN], ids=["pytest", "no-pytest"])
def test_of_a_file_that_cannot_be_collected_the_exception_is_told(
    tmp_path: Path, flags: tuple[str, ...]
) -> None:
    broken = {"tests/test_b.py": "raise ValueError('b is broken')\n"}
    alone = run_tests(tmp_path / "alone", broken, *flags)
    assert alone.item["outcome"] == "uncollected"
    assert alone.item["message"] == "ValueError: b is broken"
    beside = run_tests(tmp_path / "beside", {**TEST, **broken}, *flags)
    assert beside.item["outcome"] == "completed"
    assert beside.item["uncollected"] == {"tests/test_b.py": "ValueError: b is broken"}


@pytest.mark.parametrize("flags", [(), PLAIN], ids=["pytest", "no-pytest"])
def test_tests_that_ran_are_a_test_run(tmp_path: Path, flags: tuple[str, ...]) -> None:
    failing = {"tests/test_f.py": "def test_f():\n    raise AssertionError\n"}
    seen = run_tests(tmp_path, failing, *flags)
    assert seen.item["outcome"] == "completed"
    assert "uncollected" not in seen.item


def test_of_a_file_of_which_no_fixture_could_be_set_up_the_reason_is_told(tmp_path: Path) -> None:
    broken = {"tests/test_b.py": "def test_b(no_such_fixture):\n    pass\n"}
    alone = run_tests(tmp_path / "alone", broken)
    assert alone.item["outcome"] == "uncollected"
    assert "fixture 'no_such_fixture' not found" in alone.item["message"]
    beside = run_tests(tmp_path / "beside", {**TEST, **broken})
    assert beside.item["outcome"] == "completed"
    assert beside.item["tests"] == {"passed": 1, "errors": 1}
    assert list(beside.item["uncollected"]) == ["tests/test_b.py"]


def test_one_broken_fixture_in_a_file_of_which_others_ran_says_nothing_of_the_file(tmp_path: Path) -> None:
    mixed = {"tests/test_m.py": "def test_a():\n    pass\n\n\ndef test_b(no_such_fixture):\n    pass\n"}
    seen = run_tests(tmp_path, mixed)
    assert seen.item["outcome"] == "completed"
    assert "uncollected" not in seen.item


def test_fixtures_of_xdist_are_there(tmp_path: Path) -> None:
    seen = run_tests(
        tmp_path, {"tests/test_w.py": "def test_w(worker_id):\n    assert worker_id == 'master'\n"}
    )
    assert seen.item["tests"] == {"passed": 1}


def test_a_pytest_that_cannot_be_imported_is_done_without(tmp_path: Path) -> None:
    """As the one that a project pinned when Python was older."""
    old = {"pytest/__init__.py": "raise AttributeError('__spec__')\n"}
    seen = run_tests(tmp_path / "plain", {**TEST, **old})
    assert (seen.item["outcome"], seen.item["tests"]["called"]) == ("completed", 1)
    asks = {"tests/test_a.py": "import pytest\n", **old}
    lost = run_tests(tmp_path / "asks", asks)
    assert lost.item["outcome"] == "uncollected"
    assert lost.item["message"] == "pytest cannot be imported: AttributeError: __spec__"


def test_of_addopts_what_decides_how_tests_are_imported_is_kept(tmp_path: Path) -> None:
    files = {
        "pytest.ini": "[pytest]\naddopts = --import-mode=importlib -n 4 -p extra_plugin\n",
        "extra_plugin.py": "import pytest\n\n\n@pytest.fixture\ndef extra():\n    return 3\n",
        "a/test_same.py": "def test_one(extra):\n    assert extra == 3\n",
        "b/test_same.py": "def test_two(extra):\n    assert extra == 3\n",
    }
    tree = lay_tree(tmp_path / "t", files)
    seen = drive(tree, {"items": [{"do": "test", "paths": ["a/test_same.py", "b/test_same.py"]}]})
    assert seen.item["tests"] == {"passed": 2}


def test_addopts_for_a_plugin_that_is_not_there_keep_nothing_from_running(tmp_path: Path) -> None:
    files = {"pytest.ini": "[pytest]\naddopts = --ds=site.settings --benchmark-only\n", **TEST}
    tree = lay_tree(tmp_path / "t", files)
    seen = drive(tree, {"items": [{"do": "test", "paths": ["tests/test_a.py"]}]})
    assert seen.item["tests"] == {"passed": 1}


def test_warnings_that_something_is_out_of_date_fail_no_test_and_others_do_as_the_project_says(
    tmp_path: Path,
) -> None:
    """A newer Python than the project was written for says what will go: nothing of it ran, on both sides."""
    test = "import warnings\n"
    for kind in ("DeprecationWarning", "PendingDeprecationWarning", "FutureWarning", "UserWarning"):
        test += f"\n\ndef test_{kind}():\n    warnings.warn('old', {kind})\n"
    test += "\n\ndef test_expected():\n    import pytest\n"
    test += "    with pytest.warns(DeprecationWarning):\n        warnings.warn('old', DeprecationWarning)\n"
    files = {"pytest.ini": "[pytest]\nfilterwarnings = error\n", "tests/test_a.py": test}
    tree = lay_tree(tmp_path / "t", files)
    seen = drive(tree, {"items": [{"do": "test", "paths": ["tests/test_a.py"]}]})
    assert seen.item["tests"] == {"passed": 4, "failed": 1}


def test_what_is_printed_tells_neither_how_long_it_took_nor_how_many_went_well(tmp_path: Path) -> None:
    """Else two runs, or those of base and head, never gave away the same (gate/tracing/outgoing.py)."""
    test = "import time\nimport pytest\n\ndef test_one():\n    time.sleep(0.2)\n"
    test += "\n\n@pytest.mark.skip\ndef test_two():\n    pass\n"
    test += "\n\n@pytest.mark.xfail\ndef test_three():\n    assert False\n"
    seen = run_tests(tmp_path / "well", {"tests/test_a.py": test})
    assert seen.item["tests"] == {"passed": 1, "skipped": 2}
    assert seen.stdout.strip() == "x"
    seen = run_tests(tmp_path / "not", {"tests/test_a.py": "def test_one():\n    assert 'no' == 'yes'\n"})
    assert seen.item["tests"] == {"failed": 1}
    assert "F" in seen.stdout
    assert "test_a.py:2" in seen.stdout


def test_a_plugin_for_pytest_that_the_project_brings_is_loaded(tmp_path: Path) -> None:
    test = {"tests/test_a.py": "def test_one(cart):\n    assert cart == 1\n"}
    plugin = {"shop/testing.py": "import pytest\n\n\n@pytest.fixture\ndef cart():\n    return 1\n"}
    project = {"pyproject.toml": "[project.entry-points.pytest11]\nshop = 'shop.testing'\n"}
    seen = run_tests(tmp_path / "a", {**plugin, **project, **test}, only="tests/test_a.py")
    assert seen.item["tests"] == {"passed": 1}
    project = {"setup.cfg": "[options.entry_points]\npytest11 =\n    shop = shop.testing\n"}
    seen = run_tests(tmp_path / "b", {**plugin, **project, **test}, only="tests/test_a.py")
    assert seen.item["tests"] == {"passed": 1}
    broken = {"shop/testing.py": "raise RuntimeError('no settings')\n"}
    seen = run_tests(tmp_path / "c", {**broken, **project, **TEST}, only="tests/test_a.py")
    assert seen.item["tests"] == {"passed": 1}
