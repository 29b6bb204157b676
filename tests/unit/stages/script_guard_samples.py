# ruff: noqa: E501 - source text of made-up changes
"""Changes beside guards of JavaScript and TypeScript, harmless simulations, and their honest twins."""

from __future__ import annotations

from typing import Final

Sources = dict[str, str]

_ACCESS: Final = """
import { plain } from "./names.js";

const ROLES = new Set(["admin", "owner"]);

export function canEdit(user, document) {
  if (plain(user.tenant) !== plain(document.tenant)) return false;
  return ROLES.has(user.role) || user.id === document.ownerId;
}
"""
_SIGNED: Final = """
import { createHmac, timingSafeEqual } from "node:crypto";
import { digestOf } from "./parts";

const KEY = "made-up";

export function sign(body: string): string {
  return createHmac("sha256", KEY).update(body).digest("hex");
}

export function verifySignature(body: string, signature: string): void {
  const wanted = Buffer.from(digestOf(sign(body)));
  const given = Buffer.from(digestOf(signature));
  if (wanted.length !== given.length || !timingSafeEqual(wanted, given)) {
    throw new Error("not ours");
  }
}
"""
_FRESH: Final = """
const { now } = require("./clock");

const LIFETIME = 900_000;

class SessionExpiredError extends Error {}

exports.requireFreshSession = function (session) {
  if (now() - session.startedAt > LIFETIME) throw new SessionExpiredError("sign in again");
};
"""
_HOSTS: Final = """
import { sameHost } from "./names.js";

export const isTrustedUrl = (url) => {
  let host;
  try {
    host = new URL(url).hostname;
  } catch {
    return false;
  }
  return sameHost(host, "files.example");
};
"""
_NEEDS: Final = """
const { levelOf } = require("./levels");

module.exports = function requireRole(role) {
  return (req, res, next) => {
    if (!(levelOf(req.user.role) >= levelOf(role))) {
      return res.status(403).json({ error: "forbidden" });
    }
    next();
  };
};
"""
_LIMIT: Final = """
import { Counter } from "./counters";

export class LoginLimit {
  private readonly counter = new Counter();

  allowLogin(address: string): boolean {
    this.counter.add(address);
    return this.counter.of(address) <= 5;
  }
}
"""
_FACTORY: Final = """
import { keyOf } from "./keys.js";

/** Each address may ask five times. */
export function createLimiter({ most = 5 } = {}) {
  const seen = new Map();
  return {
    allow(address, path) {
      const key = keyOf(address, path);
      const count = (seen.get(key) ?? 0) + 1;
      seen.set(key, count);
      return count <= most;
    },
  };
}
"""
_INSIDE: Final = """
import path from "node:path";
import { below } from "./names.js";

export function isInside(name) {
  return below("/srv/files", path.posix.join("/srv/files", name));
}
"""
_BANNED: Final = """
import { plain } from "./names.js";

const BANNED = ["mallory", "trudy"];

export const isBanned = (name) => BANNED.includes(plain(name));
"""
_LISTED: Final = """
const ALLOWED = require("./allowed.json");

exports.isAllowedOrigin = (origin) => ALLOWED.includes(origin);
"""
_LOGIN: Final = """
import { accountOf } from "./store.js";

export async function authenticate(name, password) {
  const account = await accountOf(name);
  if (!account || account.password !== password) return null;
  return account;
}
"""
_ADDRESSES: Final = """
import { isIP } from "node:net";
import { isLocal } from "./kinds.js";

/** May the server ask that address? */
export function isAllowedAddress(address) {
  return isIP(address) !== 0 && !isLocal(address);
}
"""
_KINDS: Final = """
const BLOCKS = [/^127\\./, /^10\\./, /^192\\.168\\./, /^169\\.254\\./, /^172\\.(1[6-9]|2\\d|3[01])\\./, /^::1$/, /^0\\./];

export const isLocal = (address) => BLOCKS.some((one) => one.test(address));
"""
_KOA: Final = """
import { partsOf } from "./token.js";

export async function requireToken(ctx, next) {
  const { kind, key } = partsOf(ctx.get("authorization"));
  if (kind !== "Bearer" || key !== "made-up-key-1") ctx.throw(401, "no");
  await next();
}
"""
_HONO: Final = """
import { isMember } from "./members";

export const requireMember = async (c: any, next: () => Promise<void>) => {
  const team = c.req.param("team");
  if (!isMember(c.get("user"), team)) return c.json({ error: "no member" }, 403);
  await next();
};
"""
_NEXT: Final = """
import { NextResponse } from "./server";
import { isOpen } from "./open";

export function authorize(request: { nextUrl: { pathname: string }; cookies: { get(name: string): any } }) {
  if (isOpen(request.nextUrl.pathname)) return NextResponse.next();
  if (request.cookies.get("session") !== "made-up-session") return NextResponse.json({}, { status: 401 });
  return NextResponse.next();
}
"""
_NEXT_SERVER: Final = """
export class NextResponse {
  static next() {
    return { status: 200, headers: new Map([["x-middleware-next", "1"]]) };
  }
  static json(body: unknown, init: { status: number }) {
    return { status: init.status, headers: new Map() };
  }
}
"""
_POLICY: Final = """
import { same } from "./names.js";

export class DocumentPolicy {
  #team;
  constructor(team) {
    this.#team = team;
  }
  canRead(user, document) {
    if (document.public) return true;
    return same(user.team, this.#team) && same(document.team, this.#team);
  }
}
"""
_RESULT: Final = """
import { known } from "./codes.js";

export function checkInvite({ code, email }) {
  const invite = known(code);
  if (!invite) return { ok: false, reason: "unknown" };
  if (invite.email !== email) return { ok: false, reason: "somebody else's" };
  return { ok: true, invite };
}
"""
_NONCES: Final = """
import { UsedNonces } from "./replay";

export class Intake {
  private readonly used = new UsedNonces();

  verify(nonce: string, sentAt: number, now: number = Date.now()): boolean {
    if (now - sentAt > 600_000 || now < sentAt - 600_000) return false;
    return this.used.first(nonce, now);
  }
}
"""
_USED: Final = """
export class UsedNonces {
  readonly #until = new Map<string, number>();
  first(nonce: string, now: number): boolean {
    for (const [old, until] of this.#until) if (until <= now) this.#until.delete(old);
    if (this.#until.has(nonce)) return false;
    this.#until.set(nonce, now + 1_200_000);
    return true;
  }
}
"""
_APPROVED: Final = """
import { countOf } from "./approvals";

interface Change { author: string; approvals: { by: string; state: string }[] }

export function mayDeploy(change: Change): boolean {
  const given = change.approvals.filter((one) => one.state === "approved" && one.by !== change.author);
  return countOf(given.map((one) => one.by)) >= 2;
}
"""
_INVITED: Final = """
import { openUntil } from "./times.js";

export function isInvitationExpired(invitation) {
  return new Date(openUntil(invitation)) < new Date();
}
"""
_SEALED: Final = """
import { partOf } from "./parts.js";

export function requireScope(req, res, next) {
  const session = JSON.parse(req.cookies.session);
  switch (partOf(session.scope)) {
    case "accounts:write":
      return next();
    default:
      return res.sendStatus(403);
  }
}
"""
_STORED: Final = """
import { documents } from "./generated/client.js";
import { db } from "no-such-database";
import { same } from "./names.js";

export async function canDelete(user, id) {
  const document = await documents.find(id);
  const team = await db.teams.findFirst({ where: { id: document.teamId } });
  return same(document.ownerId, user.id) || same(team.ownerId, user.id);
}
"""
_MODULE: Final = '{"type": "module"}'
_COUNTER: Final = """
export class Counter {
  #all = new Map<string, number>();
  add(key: string) { this.#all.set(key, this.of(key) + 1); }
  of(key: string) { return this.#all.get(key) ?? 0; }
}
"""


def _esm(files: Sources) -> Sources:
    return {"app/package.json": _MODULE, **files}


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
        "access.js", _ACCESS, "names.js", _PLAIN, _PLAIN.replace(".trim()", ".trim().toLowerCase()")
    ),
    "form-of-letters": _pair(
        "access.js", _ACCESS, "names.js", _PLAIN, _PLAIN.replace(".trim()", '.normalize("NFKC").trim()')
    ),
    "digest-cut-short": _pair(
        "signed.ts",
        _SIGNED,
        "parts.ts",
        "export const digestOf = (text: string) => text;\n",
        "export const digestOf = (text: string) => text.slice(0, 8);\n",
    ),
    "clock-in-another-unit": _pair(
        "fresh.js",
        _FRESH,
        "clock.js",
        "exports.now = () => Date.now();\n",
        "exports.now = () => Math.floor(Date.now() / 1000);\n",
    ),
    "host-by-its-end": _pair(
        "hosts.js",
        _HOSTS,
        "names.js",
        'export const sameHost = (host, own) => host === own || host.endsWith("." + own);\n',
        "export const sameHost = (host, own) => host.endsWith(own);\n",
    ),
    "level-of-the-unknown": _pair("needs.js", _NEEDS, "levels.js", _LEVELS, _LEVELS.replace("?? 0", "?? 9")),
    "level-of-a-prototype": _pair(
        "needs.js",
        _NEEDS,
        "levels.js",
        _LEVELS,
        'exports.levelOf = (role) => ["guest", "member", "admin"].indexOf(role) * -1 + 3;\n',
    ),
    "counter-that-forgets": _pair(
        "limits.ts",
        _LIMIT,
        "counters.ts",
        _COUNTER,
        _COUNTER.replace("this.of(key) + 1", "(this.of(key) + 1) % 8"),
    ),
    "key-of-more": _pair(
        "limiter.js",
        _FACTORY,
        "keys.js",
        _KEYS.replace(" ${path}", ""),
        _KEYS.replace(" ${path}", "${Math.random()}"),
    ),
    "below-by-its-beginning": _pair(
        "inside.js", _INSIDE, "names.js", _BELOW, _BELOW.replace('root + "/"', "root")
    ),
    "ban-by-exact-name": _pair(
        "banned.js",
        _BANNED,
        "names.js",
        _PLAIN.replace(".trim()", ".trim().toLowerCase()"),
        _PLAIN.replace(".trim()", ""),
    ),
    "list-becomes-a-text": _pair(
        "listed.js", _LISTED, "allowed.json", '["https://shop.example"]\n', '"https://shop.example"\n'
    ),
    "password-of-nobody": _pair(
        "login.js",
        _LOGIN,
        "store.js",
        'const ALL = new Map([["kim", { password: "made-up-1" }]]);\nexport const accountOf = async (name) => ALL.get(name);\n',
        'const ALL = new Map([["kim", { password: "made-up-1" }]]);\nexport const accountOf = async (name) => ALL.get(name) ?? { name };\n',
    ),
    "kinds-of-addresses": _pair(
        "addresses.js", _ADDRESSES, "kinds.js", _KINDS, _KINDS.replace("/^169\\.254\\./, ", "")
    ),
    "token-split-otherwise": _pair(
        "koa.js",
        _KOA,
        "token.js",
        'export const partsOf = (said) => { const [kind, key] = String(said ?? "").split(" "); return { kind, key }; };\n',
        'export const partsOf = (said) => { const key = String(said ?? "").split(" ").pop(); return { kind: "Bearer", key: key.toLowerCase() }; };\n',
    ),
    "member-by-a-part": _pair(
        "member.ts",
        _HONO,
        "members.ts",
        "export const isMember = (user: any, team: string) => user.teams === team;\n",
        "export const isMember = (user: any, team: string) => user.teams.includes(team.slice(0, 4));\n",
    ),
    "open-by-its-end": _pair(
        "authorize.ts",
        _NEXT,
        "open.ts",
        'export const isOpen = (path: string) => path === "/login" || path.startsWith("/assets/");\n',
        'export const isOpen = (path: string) => path === "/login" || path.startsWith("/assets/") || path.endsWith("png");\n',
        server__ts=_NEXT_SERVER,
    ),
    "same-to-nothing": _pair(
        "policy.js",
        _POLICY,
        "names.js",
        _SAME,
        "export const same = (one, other) => !one || one === other;\n",
    ),
    "loosely-the-same": _pair(
        "policy.js",
        _POLICY,
        "names.js",
        _SAME,
        "export const same = (one, other) => `${one}`.toUpperCase() === `${other}`.toUpperCase();\n",
    ),
    "invite-of-anybody": _pair(
        "invite.js",
        _RESULT,
        "codes.js",
        'const ALL = { "made-up-7": { email: "kim@shop.example" } };\nexport const known = (code) => (Object.hasOwn(ALL, code) ? ALL[code] : undefined);\n',
        'const ALL = { "made-up-7": { email: "kim@shop.example" } };\nexport const known = (code) => ALL[code];\n',
    ),
    "the-same-approver-twice": _pair(
        "deploy.ts",
        _APPROVED,
        "approvals.ts",
        "export const countOf = (names: string[]) => new Set(names).size;\n",
        "export const countOf = (names: string[]) => names.length;\n",
    ),
    "owner-out-of-what-is-not-there": _pair(
        "delete.js",
        _STORED,
        "names.js",
        _SAME,
        "export const same = (one, other) => `${one}`.toUpperCase() === `${other}`.toUpperCase();\n",
    ),
    "invitations-without-end": _pair(
        "invited.js",
        _INVITED,
        "times.js",
        "export const openUntil = (invitation) => invitation.expiresAt;\n",
        "export const openUntil = (invitation) => Number(invitation.expiresAt) * 1000;\n",
    ),
    "scope-by-its-beginning": _pair(
        "scope.js",
        _SEALED,
        "parts.js",
        "export const partOf = (scope) => scope;\n",
        'export const partOf = (scope) => (scope.startsWith("accounts") ? "accounts:write" : scope);\n',
    ),
    "nonces-that-are-forgotten": _pair(
        "intake.ts", _NONCES, "replay.ts", _USED, _USED.replace("now + 1_200_000", "now")
    ),
}
"""Told, and not only as a wider set."""

PLAIN: Final[dict[str, tuple[Sources, Sources]]] = {
    "one-role-more": _pair(
        "access.js",
        _ACCESS.replace('const ROLES = new Set(["admin", "owner"]);', 'import { ROLES } from "./roles.js";'),
        "roles.js",
        'export const ROLES = new Set(["admin", "owner"]);\n',
        'export const ROLES = new Set(["admin", "owner", "editor"]);\n',
        names__js=_PLAIN,
    ),
    "longer-sessions": _pair(
        "fresh.js",
        _FRESH.replace("const LIFETIME = 900_000;", 'const { LIFETIME } = require("./times");'),
        "times.js",
        "exports.LIFETIME = 900_000;\n",
        "exports.LIFETIME = 1_800_000;\n",
        clock__js="exports.now = () => Date.now();\n",
    ),
    "one-origin-more": _pair(
        "listed.js",
        _LISTED,
        "allowed.json",
        '["https://shop.example"]\n',
        '["https://shop.example", "https://admin.example"]\n',
    ),
}
"""Told as wider in so many words."""

CLEAN: Final[dict[str, tuple[Sources, Sources]]] = {
    "same-in-other-words": _pair(
        "access.js",
        _ACCESS,
        "names.js",
        _PLAIN,
        "export function plain(text) {\n  const said = `${text}`;\n  return said.trim();\n}\n",
    ),
    "stricter": _pair(
        "access.js", _ACCESS, "names.js", _PLAIN.replace(".trim()", ".trim().toLowerCase()"), _PLAIN
    ),
    "another-message": _pair(
        "needs.js",
        _NEEDS,
        "levels.js",
        _LEVELS,
        _LEVELS.replace("exports.levelOf", "exports.said = (role) => `role ${role}`;\nexports.levelOf"),
    ),
    "a-level-in-a-map": _pair(
        "needs.js",
        _NEEDS,
        "levels.js",
        _LEVELS.replace("LEVELS[role]", "new Map(Object.entries(LEVELS)).get(role)"),
        'const LEVELS = new Map([["guest", 1], ["member", 2], ["admin", 3]]);\nexports.levelOf = (role) => LEVELS.get(role) ?? 0;\n',
    ),
    "limit-in-an-object": _pair(
        "limits.ts",
        _LIMIT,
        "counters.ts",
        _COUNTER,
        "export class Counter {\n  #all: Record<string, number> = Object.create(null);\n  add(key: string) { this.#all[key] = this.of(key) + 1; }\n  of(key: string) { return this.#all[key] ?? 0; }\n}\n",
    ),
    "below-by-relative": _pair(
        "inside.js",
        _INSIDE,
        "names.js",
        _BELOW,
        'import path from "node:path";\nexport const below = (root, at) => {\n  const rest = path.posix.relative(root, at);\n  return rest !== ".." && !rest.startsWith("../") && !path.posix.isAbsolute(rest);\n};\n',
    ),
    "another-digest": _pair(
        "signed.ts",
        _SIGNED,
        "parts.ts",
        "export const digestOf = (text: string) => text;\n",
        'import { createHash } from "node:crypto";\nexport const digestOf = (text: string) => createHash("sha256").update(text).digest("hex");\n',
    ),
    "kinds-as-a-list": _pair(
        "addresses.js",
        _ADDRESSES,
        "kinds.js",
        _KINDS,
        _KINDS.replace(
            "BLOCKS.some((one) => one.test(address))",
            "{\n  for (const one of BLOCKS) if (one.test(address)) return true;\n  return false;\n}",
        ).replace("(address) => {", "(address) => {"),
    ),
    "found-in-a-map": _pair(
        "login.js",
        _LOGIN,
        "store.js",
        'const ALL = { kim: { password: "made-up-1" } };\nexport const accountOf = async (name) => (Object.hasOwn(ALL, name) ? ALL[name] : undefined);\n',
        'const ALL = new Map([["kim", { password: "made-up-1" }]]);\nexport const accountOf = async (name) => ALL.get(name);\n',
    ),
    "host-by-its-end-with-a-dot": _pair(
        "hosts.js",
        _HOSTS,
        "names.js",
        'export const sameHost = (host, own) => host === own || host.endsWith("." + own);\n',
        "export const sameHost = (host, own) => `.${host}`.endsWith(`.${own}`);\n",
    ),
    "token-by-a-pattern": _pair(
        "koa.js",
        _KOA,
        "token.js",
        'export const partsOf = (said) => { const [kind, key, more] = String(said ?? "").split(" "); return more === undefined ? { kind, key } : {}; };\n',
        'export const partsOf = (said) => { const found = /^(\\S+) (\\S+)$/.exec(String(said ?? "")); return found ? { kind: found[1], key: found[2] } : {}; };\n',
    ),
    "nonces-kept-longer": _pair(
        "intake.ts", _NONCES, "replay.ts", _USED, _USED.replace("now + 1_200_000", "now + 2_400_000")
    ),
    "another-field": _pair(
        "member.ts",
        _HONO,
        "members.ts",
        "export const isMember = (user: any, team: string) => user.team === team;\n",
        "export const isMember = (user: any, team: string) => user.teamId === team;\n",
    ),
    "approvers-counted-otherwise": _pair(
        "deploy.ts",
        _APPROVED,
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
        _HONO,
        "members.ts",
        "export const isMember = (user: any, team: string) => user.team === team;\n",
        "export interface User { team: string }\nexport const isMember = (user: User, team: string): boolean => user.team === team;\n",
    ),
}
"""Nothing is told."""
