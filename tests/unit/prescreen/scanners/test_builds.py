"""What a build gives to browsers, and what it leaves out."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.builds import Builds
from tests.prescreen_support import make_request

Files = dict[str, str]
TREE: Files = {".env.example": "STRIPE_SECRET_KEY=\nSTRIPE_PUBLISHABLE_KEY=\nMAPS_STYLE=\n"}


def told(head: Files, base: Files | None = None) -> list[str]:
    base = TREE if base is None else base
    return [f.message for f in Builds().scan(make_request(base | head, base)).findings]


EXPOSED = [
    ("vite.config.ts", 'export default defineConfig({ envPrefix: ["VITE_", "STRIPE_"] });\n'),
    ("vite.config.ts", "export default defineConfig({ envPrefix: '' });\n"),
    ("svelte.config.js", "export default { kit: { env: { publicPrefix: 'STRIPE_' } } };\n"),
    ("rsbuild.config.ts", "const { publicVars } = loadEnv({ prefixes: ['STRIPE_'] });\n"),
    ("vite.config.ts", 'export default defineConfig({ define: { "process.env": process.env } });\n'),
    ("vite.config.ts",
     'const all = loadEnv(mode, ".", "");\nexport default { define: { "process.env": all } };\n'),
    ("vite.config.ts", "export default { define: { K: JSON.stringify(process.env.STRIPE_SECRET_KEY) } };\n"),
    ("webpack.config.js", 'new webpack.EnvironmentPlugin(["NODE_ENV", "JWT_SECRET"]);\n'),
    ("webpack.config.js", "new webpack.DefinePlugin({ env: JSON.stringify({ ...process.env }) });\n"),
    ("next.config.mjs", "export default { env: { DB_PASSWORD: process.env.DB_PASSWORD } };\n"),
    ("nuxt.config.ts",
     "export default { runtimeConfig: { public: { pay: process.env.STRIPE_SECRET_KEY } } };\n"),
    ("astro.config.mjs",
     'export default { env: { schema: { JWT_SECRET: envField.string({ access: "public" }) } } };\n'),
    ("scripts/bundle.mjs",
     'import esbuild from "esbuild";\nesbuild.build({ define: { K: `"${process.env.JWT_SECRET}"` } });\n'),
    ("rollup.config.js", "export default [replace({ 'process.env.JWT_SECRET': process.env.JWT_SECRET })];\n"),
    ("web/pay.ts", "const key = process.env.NEXT_PUBLIC_STRIPE_SECRET_KEY;\n"),
    ("web/pay.ts", "const key = import.meta.env.VITE_DATABASE_URL;\n"),
    ("Dockerfile", "ARG REACT_APP_SIGNING_KEY\n"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "text"), EXPOSED)
def test_a_secret_that_a_build_writes_into_the_bundle(path: str, text: str) -> None:
    assert len(told({path: text})) == 1
    assert told({path: text + "// x\n"}, TREE | {path: text}) == []


PUBLIC = [
    ("vite.config.ts", 'export default defineConfig({ envPrefix: ["VITE_", "MAPS_"] });\n'),  # no secret
    ("vite.config.ts", 'const e = loadEnv(mode, ".", "");\nexport default { server: { port: e.PORT } };\n'),
    ("vite.config.ts", "export default { define: { V: JSON.stringify(process.env.npm_version) } };\n"),
    ("webpack.config.js", 'new webpack.EnvironmentPlugin(["NODE_ENV", "API_URL"]);\n'),
    ("next.config.mjs", "export default { env: { API_URL: process.env.API_URL } };\n"),
    ("nuxt.config.ts", "export default { runtimeConfig: { pay: process.env.STRIPE_SECRET_KEY } };\n"),
    ("astro.config.mjs",
     'export default { env: { schema: { JWT_SECRET: envField.string({ access: "secret" }) } } };\n'),
    ("server/pay.ts", "const stripe = new Stripe(process.env.STRIPE_SECRET_KEY);\n"),
    ("web/pay.ts", "const key = process.env.NEXT_PUBLIC_STRIPE_PUBLISHABLE_KEY;\n"),
    ("web/form.ts", "const min = import.meta.env.VITE_MIN_PASSWORD;\n"),
    ("docs/setup.md", "Never set `VITE_DATABASE_URL`.\n"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "text"), PUBLIC)
def test_settings_that_browsers_may_know(path: str, text: str) -> None:
    assert told({path: text}) == []


PACKAGE: Files = {
    "package.json": '{"name": "forms"}',
    "src/index.js": 'import "./harden.js";\nimport { draw } from "./draw.js";\n',
    "src/harden.js": "globalThis.clean = (text) => text;\n",
    "src/draw.js": "export const draw = () => 1;\n",
    "tests/draw.test.js": 'import "../src/draw.js";\n',
}


@pytest.mark.parametrize("said", ["false", '["*.css"]', '"./src/draw.js"'])
def test_a_module_with_an_effect_that_bundlers_leave_out(said: str) -> None:
    head = {"package.json": f'{{"sideEffects": {said}}}'}
    assert len(told(head, PACKAGE)) == 1
    assert told({"src/draw.js": "export const draw = () => 2;\n"}, PACKAGE | head) == []


@pytest.mark.parametrize("said", ["true", '["./src/harden.js"]', '["src/*.js"]', '["**/harden.*"]'])
def test_modules_that_bundlers_keep(said: str) -> None:
    assert told({"package.json": f'{{"sideEffects": {said}}}'}, PACKAGE) == []


def test_a_module_of_which_somebody_takes_a_name_stays() -> None:
    base = PACKAGE | {"src/other.js": 'import { mark } from "./harden.js";\n'}
    assert told({"package.json": '{"sideEffects": false}'}, base) == []


def test_an_import_that_took_a_name_is_one_for_the_effect() -> None:
    base = PACKAGE | {
        "package.json": '{"sideEffects": false}',
        "src/index.js": 'import { clean } from "./harden.js";\n',
    }
    assert len(told({"src/index.js": 'import "./harden.js";\n'}, base)) == 1


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ("/* @__PURE__ */ assertOwner(user);\n", 1),
        ("/*#__PURE__*/ install(policy);\n", 1),
        ("export const draw = /* @__PURE__ */ make();\n", 0),
        ("install(policy);\n", 0),
    ],
)
def test_a_call_for_its_effect_that_is_said_to_have_none(text: str, hits: int) -> None:
    assert len(told({"src/draw.js": text}, PACKAGE)) == hits


def test_settings_that_are_too_large_are_told_as_not_looked_at() -> None:
    text = 'export default { envPrefix: "STRIPE_" };\n' + "// filled\n" * 30_000
    result = Builds().scan(make_request(TREE | {"vite.config.ts": text}, TREE))
    assert "vite.config.ts" in result.stages[0].reason
