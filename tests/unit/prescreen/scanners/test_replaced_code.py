"""Flags, variables and aliases that put other code in place, with harmless twins."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.replaced_code import ReplacedCode
from tests.prescreen_support import make_request


def told(head: dict[str, str], base: dict[str, str]) -> list[str]:
    found = ReplacedCode().scan(make_request({**base, **head}, base)).findings
    return sorted(one.severity.value for one in found)


@pytest.mark.parametrize(
    ("path", "line", "expected"),
    [
        ("Makefile", "\tgo build -overlay build/small.json ./...", ["high"]),
        ("Makefile", "\tgo build -toolexec=./scripts/wrap ./...", ["high"]),
        ("Makefile", "\tgo build -ldflags '-X acme/internal/pass.PublicKey=AAAA' ./...", ["medium"]),
        ("Makefile", "\tgo build -ldflags '-s -w -X main.version=$(VERSION)' ./...", []),
        ("Makefile", "CFLAGS += -include build/compat/early.h", ["medium"]),
        ("Makefile", "CFLAGS += -Iinclude -O2 -Wall", []),
        ("Makefile", "CFLAGS += -DNO_VERIFY=1", ["high"]),
        ("Makefile", "LDFLAGS += -Wl,--wrap=RSA_verify", ["high"]),
        ("Makefile", "CC = ./tools/cc", ["medium"]),
        ("Makefile", "CC = clang", []),
        ("Makefile", "# go build -overlay build/small.json", []),
        ("Dockerfile", "ENV LD_PRELOAD=/opt/lib/shim.so", ["high"]),
        ("Dockerfile", "ENV LD_PRELOAD=/usr/lib/libjemalloc.so.2", []),
        (".github/workflows/ci.yml", '      NODE_OPTIONS: "--require ./scripts/early.cjs"', ["high"]),
        (".github/workflows/ci.yml", '      NODE_OPTIONS: "--max-old-space-size=4096"', []),
        ("package.json", '  "start": "node --import ./lib/early.mjs server.js"', ["medium"]),
        ("package.json", '  "start": "node --enable-source-maps server.js"', []),
        (".cargo/config.toml", 'rustc-wrapper = "./tools/rustc"', ["high"]),
        (".cargo/config.toml", 'rustc-wrapper = "sccache"', []),
        ("gradle.properties", "org.gradle.jvmargs=-Xmx2g -javaagent:gradle/agent.jar", ["high"]),
        ("gradle.properties", "org.gradle.jvmargs=-Xmx2g", []),
        (".mvn/jvm.config", "--patch-module java.base=build/patch", ["high"]),
        ("php.ini", "auto_prepend_file = lib/early.php", ["high"]),
        ("tox.ini", "    PYTHONSTARTUP = {toxinidir}/early.py", ["high"]),
        ("src/notes.md", "go build -overlay build/small.json", []),
    ],
)
def test_flags(path: str, line: str, expected: list[str]) -> None:
    assert told({path: f"x\n{line}\n"}, {path: "x\n"}) == expected


def test_what_base_has_is_not_told() -> None:
    line = "\tgo build -overlay build/small.json ./...\n"
    assert told({"Makefile": f"all:\n{line}\n# more\n"}, {"Makefile": f"all:\n{line}"}) == []


BASE = {
    "src/server.ts": 'import { holds } from "@app/signature";\nimport { ref } from "vue";\n',
    "src/signature.ts": "export const holds = 1;\n",
    "src/testing/signature.ts": "export const holds = 2;\n",
    "src/other/signature.ts": "export const holds = 3;\n",
}
CONFIG = "export default {{ resolve: {{ alias: {} }} }};\n"
OLD = CONFIG.format('{ "@app": resolve("src") }')


@pytest.mark.parametrize(
    ("alias", "expected"),
    [
        (
            (
                r'[{ find: /^@app\/(sig)/, replacement: `${at("testing")}/$1` }, { find: "@app", '
                r'replacement: at("src") }]'
            ),
            ["high"],
        ),
        ('{ "@app/signature": resolve("src/other/signature.ts"), "@app": resolve("src") }', ["medium"]),
        ('{ "@app": resolve("src/other") }', ["medium"]),
        ('{ "@app": resolve("src"), "@ui": resolve("ui") }', []),
        ('{ "@app": path.resolve(__dirname, "./src") }', []),
        ('{ "@app": resolve("src"), vue: "vue/dist/vue.esm-bundler.js" }', []),
    ],
)
def test_aliases_in_code(alias: str, expected: list[str]) -> None:
    base = {**BASE, "vite.config.ts": OLD}
    assert told({"vite.config.ts": CONFIG.format(alias)}, base) == expected


def test_aliases_as_data() -> None:
    form = '{"compilerOptions": {"paths": {"@app/*": ["./%s/*"]}}}\n'
    base = {**BASE, "tsconfig.json": form % "src"}
    assert told({"tsconfig.json": form % "src/other"}, base) == ["medium"]
    moved = {name.replace("src/", "lib/"): text for name, text in BASE.items()}
    head = {**moved, "tsconfig.json": form % "lib"}
    found = ReplacedCode().scan(make_request(head, base)).findings
    assert [*found] == []


@pytest.mark.parametrize(
    ("path", "module", "expected"),
    [
        ("ENV PYTHONPATH=/app/compat", "compat/hmac.py", ["high"]),
        ("ENV PYTHONPATH=/app/compat", "compat/acme_more.py", []),
        ("ENV PYTHONPATH=/app/src", "src/desk/more.py", []),
    ],
)
def test_modules_in_front(path: str, module: str, expected: list[str]) -> None:
    base = {"Dockerfile": "FROM a\n", "desk/main.py": "import hmac\nimport desk.more\n"}
    assert told({"Dockerfile": f"FROM a\n{path}\n", module: "x = 1\n"}, base) == expected
