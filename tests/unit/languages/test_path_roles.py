"""What a path says a file is for."""

from __future__ import annotations

import pytest

from gate.languages.path_roles import (
    is_aside,
    is_example,
    is_javascript_test,
    is_no_product,
    is_test,
    is_test_code,
    is_unshipped,
)


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("tests/a.py", True), ("tests/test_a.py", True), ("pkg/test_a.py", True), ("a_test.py", True),
        ("a_tests.py", True), ("conftest.py", True), ("test.py", True), ("unittests/a.py", True),
        ("unit_tests/a.py", True), ("testing/a.py", True), ("Tests/a.py", True), ("e2e/login.ts", True),
        ("src/cart_test.go", True), ("web/cart.spec.ts", True), ("spec/models/a.rb", True),
        ("__tests__/application/onerror.js", True), ("__mocks__/fs.ts", True),
        ("integration-tests/run.js", True), ("src/inspect/a.js", False), ("src/aspect.ts", False),
        ("src/contest.py", False), ("src/latest.js", False), ("latest/a.py", False), ("contest.py", False),
        ("cmd/main.go", False), ("docs/conf.py", False), ("attest/a.py", False),
    ],
)  # fmt: skip
def test_what_counts_as_test_code(path: str, answer: bool) -> None:
    assert is_test_code(path) is answer
    assert is_unshipped(path) is (answer or path.startswith("docs/"))


def test_what_runners_take_by_its_name() -> None:
    assert [p for p in ("test_a.py", "a_test.py", "tests.py", "conftest.py", "tests/a.py") if is_test(p)] == [
        "test_a.py",
        "a_test.py",
        "tests.py",
    ]
    taken = ("a.test.ts", "tests/a.js", "tests/utils/a.js", "a.d.ts", "bun/a.test.ts", "src/a.js")
    assert [p for p in taken if is_javascript_test(p)] == ["a.test.ts", "tests/a.js"]


def test_examples_and_tools_are_no_product() -> None:
    assert is_example("examples/a.py")
    assert not is_example("src/main/java/org/demo/A.java")
    assert is_aside("fixtures/a.py")
    assert not is_aside("src/fixtures.py")
    assert not is_aside("src/main/java/example/data/Store.java")
    assert is_aside("samples/src/main/java/a/Store.java")
    assert is_aside("examples/a.java")
    assert is_no_product("scripts/release.py")
    assert not is_no_product("src/shop/cart.py")


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("tools/a.py", True), ("Scripts/a.py", True), ("packages/web/scripts/a.js", True),
        (".github/a.py", True), ("packages/web/bench/a.js", True), ("assistant/tools/search.py", False),
        ("src/build/a.ts", False), ("packages/web/src/tools/a.js", False), ("packages/tools/a.js", False),
        ("a.py", False), ("", False),
    ],
)  # fmt: skip
def test_tools_within_a_package_are_parts_of_the_program(path: str, answer: bool) -> None:
    assert is_no_product(path) is answer


def test_programs_in_a_folder_of_data_are_programs() -> None:
    assert is_aside("shop/data/countries.json")
    assert not is_aside("shop/data/store.py")
    assert not is_aside("app/src/main/kotlin/Data.kt")
    assert is_aside("tests/data/store.py")
