# ruff: noqa: E501 - source text of made-up changes
"""Changes beside guards of JavaScript and TypeScript, harmless simulations, and their honest twins."""

from __future__ import annotations

from typing import Final

from tests.unit.stages.script_guard_texts import (
    ACCESS,
    ADDRESSES,
    APPROVED,
    BANNED,
    COUNTER,
    FACTORY,
    FRESH,
    HONO,
    HOSTS,
    INSIDE,
    INVITED,
    KINDS,
    KOA,
    LIMIT,
    LISTED,
    LOGIN,
    NEEDS,
    NEXT,
    NEXT_SERVER,
    NONCES,
    POLICY,
    RESULT,
    SEALED,
    SIGNED,
    STORED,
    USED,
)

Sources = dict[str, str]

_MODULE: Final = '{"type": "module"}'


def _pair(
    guard: str, text: str, beside: str, before: str, after: str, **more: str
) -> tuple[Sources, Sources]:
    """A guard that stays as it is, and a file beside it that changes."""
    module = {} if "require(" in text else {"app/package.json": _MODULE}
    base = {**module, f"app/{guard}": text, f"app/{beside}": before}
    return {**base, **{f"app/{name.replace('__', '.')}": one for name, one in more.items()}}, {
        f"app/{beside}": after
    }


_PLAIN: Final = "export const plain = (text) => String(text).trim();\n"
_BELOW: Final = 'export const below = (root, path) => path === root || path.startsWith(root + "/");\n'
_LEVELS: Final = (
    "const LEVELS = { guest: 1, member: 2, admin: 3 };\nexports.levelOf = (role) => LEVELS[role] ?? 0;\n"
)
_SAME: Final = "export const same = (one, other) => one === other;\n"
_KEYS: Final = "export const keyOf = (address, path) => `${address} ${path}`;\n"

HITS: Final[dict[str, tuple[Sources, Sources]]] = {
    "case-folded-tenant": _pair(
        "access.js", ACCESS, "names.js", _PLAIN, _PLAIN.replace(".trim()", ".trim().toLowerCase()")
    ),
    "form-of-letters": _pair(
        "access.js", ACCESS, "names.js", _PLAIN, _PLAIN.replace(".trim()", '.normalize("NFKC").trim()')
    ),
    "digest-cut-short": _pair(
        "signed.ts",
        SIGNED,
        "parts.ts",
        "export const digestOf = (text: string) => text;\n",
        "export const digestOf = (text: string) => text.slice(0, 8);\n",
    ),
    "clock-in-another-unit": _pair(
        "fresh.js",
        FRESH,
        "clock.js",
        "exports.now = () => Date.now();\n",
        "exports.now = () => Math.floor(Date.now() / 1000);\n",
    ),
    "host-by-its-end": _pair(
        "hosts.js",
        HOSTS,
        "names.js",
        'export const sameHost = (host, own) => host === own || host.endsWith("." + own);\n',
        "export const sameHost = (host, own) => host.endsWith(own);\n",
    ),
    "level-of-the-unknown": _pair("needs.js", NEEDS, "levels.js", _LEVELS, _LEVELS.replace("?? 0", "?? 9")),
    "level-of-a-prototype": _pair(
        "needs.js",
        NEEDS,
        "levels.js",
        _LEVELS,
        'exports.levelOf = (role) => ["guest", "member", "admin"].indexOf(role) * -1 + 3;\n',
    ),
    "counter-that-forgets": _pair(
        "limits.ts",
        LIMIT,
        "counters.ts",
        COUNTER,
        COUNTER.replace("this.of(key) + 1", "(this.of(key) + 1) % 8"),
    ),
    "key-of-more": _pair(
        "limiter.js",
        FACTORY,
        "keys.js",
        _KEYS.replace(" ${path}", ""),
        _KEYS.replace(" ${path}", "${Math.random()}"),
    ),
    "below-by-its-beginning": _pair(
        "inside.js", INSIDE, "names.js", _BELOW, _BELOW.replace('root + "/"', "root")
    ),
    "ban-by-exact-name": _pair(
        "banned.js",
        BANNED,
        "names.js",
        _PLAIN.replace(".trim()", ".trim().toLowerCase()"),
        _PLAIN.replace(".trim()", ""),
    ),
    "list-becomes-a-text": _pair(
        "listed.js", LISTED, "allowed.json", '["https://shop.example"]\n', '"https://shop.example"\n'
    ),
    "password-of-nobody": _pair(
        "login.js",
        LOGIN,
        "store.js",
        'const ALL = new Map([["kim", { password: "made-up-1" }]]);\nexport const accountOf = async (name) => ALL.get(name);\n',
        'const ALL = new Map([["kim", { password: "made-up-1" }]]);\nexport const accountOf = async (name) => ALL.get(name) ?? { name };\n',
    ),
    "kinds-of-addresses": _pair(
        "addresses.js", ADDRESSES, "kinds.js", KINDS, KINDS.replace("/^169\\.254\\./, ", "")
    ),
    "token-split-otherwise": _pair(
        "koa.js",
        KOA,
        "token.js",
        'export const partsOf = (said) => { const [kind, key] = String(said ?? "").split(" "); return { kind, key }; };\n',
        'export const partsOf = (said) => { const key = String(said ?? "").split(" ").pop(); return { kind: "Bearer", key: key.toLowerCase() }; };\n',
    ),
    "member-by-a-part": _pair(
        "member.ts",
        HONO,
        "members.ts",
        "export const isMember = (user: any, team: string) => user.teams === team;\n",
        "export const isMember = (user: any, team: string) => user.teams.includes(team.slice(0, 4));\n",
    ),
    "open-by-its-end": _pair(
        "authorize.ts",
        NEXT,
        "open.ts",
        'export const isOpen = (path: string) => path === "/login" || path.startsWith("/assets/");\n',
        'export const isOpen = (path: string) => path === "/login" || path.startsWith("/assets/") || path.endsWith("png");\n',
        server__ts=NEXT_SERVER,
    ),
    "same-to-nothing": _pair(
        "policy.js",
        POLICY,
        "names.js",
        _SAME,
        "export const same = (one, other) => !one || one === other;\n",
    ),
    "loosely-the-same": _pair(
        "policy.js",
        POLICY,
        "names.js",
        _SAME,
        "export const same = (one, other) => `${one}`.toUpperCase() === `${other}`.toUpperCase();\n",
    ),
    "invite-of-anybody": _pair(
        "invite.js",
        RESULT,
        "codes.js",
        'const ALL = { "made-up-7": { email: "kim@shop.example" } };\nexport const known = (code) => (Object.hasOwn(ALL, code) ? ALL[code] : undefined);\n',
        'const ALL = { "made-up-7": { email: "kim@shop.example" } };\nexport const known = (code) => ALL[code];\n',
    ),
    "the-same-approver-twice": _pair(
        "deploy.ts",
        APPROVED,
        "approvals.ts",
        "export const countOf = (names: string[]) => new Set(names).size;\n",
        "export const countOf = (names: string[]) => names.length;\n",
    ),
    "owner-out-of-what-is-not-there": _pair(
        "delete.js",
        STORED,
        "names.js",
        _SAME,
        "export const same = (one, other) => `${one}`.toUpperCase() === `${other}`.toUpperCase();\n",
    ),
    "invitations-without-end": _pair(
        "invited.js",
        INVITED,
        "times.js",
        "export const openUntil = (invitation) => invitation.expiresAt;\n",
        "export const openUntil = (invitation) => Number(invitation.expiresAt) * 1000;\n",
    ),
    "scope-by-its-beginning": _pair(
        "scope.js",
        SEALED,
        "parts.js",
        "export const partOf = (scope) => scope;\n",
        'export const partOf = (scope) => (scope.startsWith("accounts") ? "accounts:write" : scope);\n',
    ),
    "nonces-that-are-forgotten": _pair(
        "intake.ts", NONCES, "replay.ts", USED, USED.replace("now + 1_200_000", "now")
    ),
}
"""Told, and not only as a wider set."""

PLAIN: Final[dict[str, tuple[Sources, Sources]]] = {
    "one-role-more": _pair(
        "access.js",
        ACCESS.replace('const ROLES = new Set(["admin", "owner"]);', 'import { ROLES } from "./roles.js";'),
        "roles.js",
        'export const ROLES = new Set(["admin", "owner"]);\n',
        'export const ROLES = new Set(["admin", "owner", "editor"]);\n',
        names__js=_PLAIN,
    ),
    "longer-sessions": _pair(
        "fresh.js",
        FRESH.replace("const LIFETIME = 900_000;", 'const { LIFETIME } = require("./times");'),
        "times.js",
        "exports.LIFETIME = 900_000;\n",
        "exports.LIFETIME = 1_800_000;\n",
        clock__js="exports.now = () => Date.now();\n",
    ),
    "one-origin-more": _pair(
        "listed.js",
        LISTED,
        "allowed.json",
        '["https://shop.example"]\n',
        '["https://shop.example", "https://admin.example"]\n',
    ),
}
"""Told as wider in so many words."""

CLEAN: Final[dict[str, tuple[Sources, Sources]]] = {
    "same-in-other-words": _pair(
        "access.js",
        ACCESS,
        "names.js",
        _PLAIN,
        "export function plain(text) {\n  const said = `${text}`;\n  return said.trim();\n}\n",
    ),
    "stricter": _pair(
        "access.js", ACCESS, "names.js", _PLAIN.replace(".trim()", ".trim().toLowerCase()"), _PLAIN
    ),
    "another-message": _pair(
        "needs.js",
        NEEDS,
        "levels.js",
        _LEVELS,
        _LEVELS.replace("exports.levelOf", "exports.said = (role) => `role ${role}`;\nexports.levelOf"),
    ),
    "a-level-in-a-map": _pair(
        "needs.js",
        NEEDS,
        "levels.js",
        _LEVELS.replace("LEVELS[role]", "new Map(Object.entries(LEVELS)).get(role)"),
        'const LEVELS = new Map([["guest", 1], ["member", 2], ["admin", 3]]);\nexports.levelOf = (role) => LEVELS.get(role) ?? 0;\n',
    ),
    "limit-in-an-object": _pair(
        "limits.ts",
        LIMIT,
        "counters.ts",
        COUNTER,
        "export class Counter {\n  #all: Record<string, number> = Object.create(null);\n  add(key: string) { this.#all[key] = this.of(key) + 1; }\n  of(key: string) { return this.#all[key] ?? 0; }\n}\n",
    ),
    "below-by-relative": _pair(
        "inside.js",
        INSIDE,
        "names.js",
        _BELOW,
        'import path from "node:path";\nexport const below = (root, at) => {\n  const rest = path.posix.relative(root, at);\n  return rest !== ".." && !rest.startsWith("../") && !path.posix.isAbsolute(rest);\n};\n',
    ),
    "another-digest": _pair(
        "signed.ts",
        SIGNED,
        "parts.ts",
        "export const digestOf = (text: string) => text;\n",
        'import { createHash } from "node:crypto";\nexport const digestOf = (text: string) => createHash("sha256").update(text).digest("hex");\n',
    ),
    "kinds-as-a-list": _pair(
        "addresses.js",
        ADDRESSES,
        "kinds.js",
        KINDS,
        KINDS.replace(
            "BLOCKS.some((one) => one.test(address))",
            "{\n  for (const one of BLOCKS) if (one.test(address)) return true;\n  return false;\n}",
        ).replace("(address) => {", "(address) => {"),
    ),
    "found-in-a-map": _pair(
        "login.js",
        LOGIN,
        "store.js",
        'const ALL = { kim: { password: "made-up-1" } };\nexport const accountOf = async (name) => (Object.hasOwn(ALL, name) ? ALL[name] : undefined);\n',
        'const ALL = new Map([["kim", { password: "made-up-1" }]]);\nexport const accountOf = async (name) => ALL.get(name);\n',
    ),
    "host-by-its-end-with-a-dot": _pair(
        "hosts.js",
        HOSTS,
        "names.js",
        'export const sameHost = (host, own) => host === own || host.endsWith("." + own);\n',
        "export const sameHost = (host, own) => `.${host}`.endsWith(`.${own}`);\n",
    ),
    "token-by-a-pattern": _pair(
        "koa.js",
        KOA,
        "token.js",
        'export const partsOf = (said) => { const [kind, key, more] = String(said ?? "").split(" "); return more === undefined ? { kind, key } : {}; };\n',
        'export const partsOf = (said) => { const found = /^(\\S+) (\\S+)$/.exec(String(said ?? "")); return found ? { kind: found[1], key: found[2] } : {}; };\n',
    ),
    "nonces-kept-longer": _pair(
        "intake.ts", NONCES, "replay.ts", USED, USED.replace("now + 1_200_000", "now + 2_400_000")
    ),
    "another-field": _pair(
        "member.ts",
        HONO,
        "members.ts",
        "export const isMember = (user: any, team: string) => user.team === team;\n",
        "export const isMember = (user: any, team: string) => user.teamId === team;\n",
    ),
    "approvers-counted-otherwise": _pair(
        "deploy.ts",
        APPROVED,
        "approvals.ts",
        "export const countOf = (names: string[]) => new Set(names).size;\n",
        "export const countOf = (names: string[]) => names.filter((one, at) => names.indexOf(one) === at).length;\n",
    ),
    "a-validator": _pair(
        "form.js",
        'import { longest } from "./sizes.js";\nexport function parseName(name) {\n  if (name.length > longest()) throw new RangeError("too long");\n  return name;\n}\n',
        "sizes.js",
        "export const longest = () => 20;\n",
        "export const longest = () => 40;\n",
    ),
    "only-types": _pair(
        "member.ts",
        HONO,
        "members.ts",
        "export const isMember = (user: any, team: string) => user.team === team;\n",
        "export interface User { team: string }\nexport const isMember = (user: User, team: string): boolean => user.team === team;\n",
    ),
}
"""Nothing is told."""
