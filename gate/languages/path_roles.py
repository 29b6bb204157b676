"""What the path of a file says it is for: a test, an example, a tool. The one place that answers that.

A path is chosen by the change, so no answer is a reason not to look: it only says how much a weakness weighs
and what is worth running.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

from gate.regex import regex

_TEST_NAME: Final = regex(
    r"(?:\A|[._-])(?:unit_?)?(?:test|tests|spec|specs|conftest)(?:[._-]|\Z)", re.IGNORECASE
)
_TEST_FOLDERS: Final = frozenset({"testing", "__mocks__", "e2e"})
"""Folders of test code whose names hold no such word."""
_EXAMPLES: Final = frozenset({
    "example", "examples", "demo", "demos", "docs", "doc", "samples", "benchmarks",
})  # fmt: skip
_ASIDE: Final = frozenset({
    "testdata", "fixtures", "samples", "sample", "examples", "example", "demo", "demos", "doc", "docs",
    "corpus",
})  # fmt: skip
_DATA: Final = frozenset({"data"})
"""A folder of data; of a program where programs lie in it (``shop/data/store.py``)."""
_PROGRAMS: Final = frozenset({
    ".py", ".pyi", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte", ".go",
    ".rb", ".php", ".java", ".kt", ".scala", ".groovy", ".cs", ".rs", ".swift", ".dart", ".ex", ".exs", ".c",
    ".cc", ".cpp", ".h", ".hpp", ".lua", ".pl", ".sh",
})  # fmt: skip
_BENCHES: Final = frozenset({"bench", "benchmarks", ".github"})
_TOOLS: Final = frozenset({
    "tools", "tool", "scripts", "script", "ci", "dev", "hack", "build", "release",
})  # fmt: skip
"""Of the project's developers, at the top of a project. Within a package they are parts of the program:
``assistant/tools/search.py`` is what a language model calls.
"""
_GROUPS: Final = frozenset({
    "packages", "apps", "services", "libs", "projects", "modules", "crates", "plugins", "components",
})  # fmt: skip
"""Folders whose folders are projects of one repository."""
_PACKAGES: Final = frozenset({"java", "kotlin", "scala", "groovy", "com", "org", "io", "net"})
"""Folders below which names are a package's."""
_LANGUAGE_FOLDERS: Final = frozenset({"java", "kotlin", "scala", "groovy"})
_JAVASCRIPT: Final = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte")
_JAVASCRIPT_TEST: Final = regex(r"(?:\A|[._-])(?:test|tests|spec|e2e)\.[cm]?[jt]sx?\Z")
_JAVASCRIPT_FOLDERS: Final = frozenset({"test", "tests", "__tests__", "spec", "specs"})
_NO_JAVASCRIPT_TESTS: Final = frozenset({
    "fixtures", "fixture", "__fixtures__", "helpers", "__mocks__", "mocks", "utils", "support",
    "node_modules", "deno", "bun", "browser", "e2e", "integration", "types",
})  # fmt: skip
_OTHER_RUNNERS: Final = frozenset({"node_modules", "deno", "bun"})


def is_test_code(path: str) -> bool:
    """True for test code in any language: a name or a folder says test, spec or conftest."""
    at = PurePosixPath(path)
    return bool(_TEST_NAME.search(at.name)) or _in_test_folder(at)


def is_test(path: str) -> bool:
    """True for what pytest, unittest or Django's runner would collect by its name."""
    name = PurePosixPath(path).name
    return name.endswith(".py") and (
        name.startswith(("test_", "tests_")) or name.endswith("_test.py") or name in ("tests.py", "test.py")
    )


def is_javascript_test(path: str) -> bool:
    """True for what runners of JavaScript take by its name or its folder."""
    pure = PurePosixPath(path)
    if not path.endswith(_JAVASCRIPT) or path.endswith(".d.ts"):
        return False
    folders = {*pure.parts[:-1]}
    if _JAVASCRIPT_TEST.search(pure.name):
        return not _OTHER_RUNNERS & {*pure.parts}
    return bool(folders & _JAVASCRIPT_FOLDERS) and not folders & _NO_JAVASCRIPT_TESTS


def is_component(path: str) -> bool:
    """True for a component of Vue or Svelte: markup whose script is made into a module."""
    return path.endswith((".vue", ".svelte"))


def is_example(path: str) -> bool:
    """True below a folder of examples or documentation. A package's name is none."""
    at = PurePosixPath(path)
    source = next((i for i, part in enumerate(at.parts) if part.lower() in _PACKAGES), len(at.parts))
    return _below(PurePosixPath(*at.parts[:source], at.name), _EXAMPLES)


def is_aside(path: str) -> bool:
    """True below a folder of tests (``__tests__``, ``integration-tests``), samples or documentation: no part
    of what the project installs. A name of a package is none: ``src/main/java/example/data/Store.java``.
    """
    at = PurePosixPath(path)
    source = next((i + 3 for i in range(len(at.parts)) if _is_source_root(at.parts[i : i + 3])), None)
    outer = PurePosixPath(*at.parts[: source and source - 3], at.name) if source else at
    is_data = at.suffix.lower() not in _PROGRAMS and _below(outer, _DATA)
    return _in_test_folder(at) or is_data or _below(outer, _ASIDE)


def is_unshipped(path: str) -> bool:
    """True for test code, samples and documentation: developers and CI run it, users do not."""
    return is_test_code(path) or is_aside(path)


def is_for_show(path: str) -> bool:
    """True for what users do not run, and for examples wherever they lie."""
    return is_unshipped(path) or is_example(path)


def is_no_product(path: str) -> bool:
    """True for tests and for tools of the project's own developers."""
    at = PurePosixPath(path)
    folders = [part.lower() for part in at.parts[:-1]]
    first = folders[2:3] if folders[:1] and folders[0] in _GROUPS else folders[:1]
    return is_unshipped(path) or _below(at, _BENCHES) or not _TOOLS.isdisjoint(first)


def _is_source_root(parts: tuple[str, ...]) -> bool:
    return len(parts) == 3 and parts[:2] == ("src", "main") and parts[2] in _LANGUAGE_FOLDERS


def _in_test_folder(at: PurePosixPath) -> bool:
    return _below(at, _TEST_FOLDERS) or any(_TEST_NAME.search(folder) for folder in at.parts[:-1])


def _below(at: PurePosixPath, names: frozenset[str]) -> bool:
    return not names.isdisjoint(part.lower() for part in at.parts[:-1])
