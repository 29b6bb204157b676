# ruff: noqa: E501 - texts of modules
"""Guards of JavaScript and TypeScript, made up; each stays as it is while a file beside it changes."""

from __future__ import annotations

from typing import Final

ACCESS: Final = """
import { plain } from "./names.js";

const ROLES = new Set(["admin", "owner"]);

export function canEdit(user, document) {
  if (plain(user.tenant) !== plain(document.tenant)) return false;
  return ROLES.has(user.role) || user.id === document.ownerId;
}
"""
SIGNED: Final = """
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
FRESH: Final = """
const { now } = require("./clock");

const LIFETIME = 900_000;

class SessionExpiredError extends Error {}

exports.requireFreshSession = function (session) {
  if (now() - session.startedAt > LIFETIME) throw new SessionExpiredError("sign in again");
};
"""
HOSTS: Final = """
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
NEEDS: Final = """
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
LIMIT: Final = """
import { Counter } from "./counters";

export class LoginLimit {
  private readonly counter = new Counter();

  allowLogin(address: string): boolean {
    this.counter.add(address);
    return this.counter.of(address) <= 5;
  }
}
"""
FACTORY: Final = """
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
INSIDE: Final = """
import path from "node:path";
import { below } from "./names.js";

export function isInside(name) {
  return below("/srv/files", path.posix.join("/srv/files", name));
}
"""
BANNED: Final = """
import { plain } from "./names.js";

const BANNED = ["mallory", "trudy"];

export const isBanned = (name) => BANNED.includes(plain(name));
"""
LISTED: Final = """
const ALLOWED = require("./allowed.json");

exports.isAllowedOrigin = (origin) => ALLOWED.includes(origin);
"""
LOGIN: Final = """
import { accountOf } from "./store.js";

export async function authenticate(name, password) {
  const account = await accountOf(name);
  if (!account || account.password !== password) return null;
  return account;
}
"""
ADDRESSES: Final = """
import { isIP } from "node:net";
import { isLocal } from "./kinds.js";

/** May the server ask that address? */
export function isAllowedAddress(address) {
  return isIP(address) !== 0 && !isLocal(address);
}
"""
KINDS: Final = """
const BLOCKS = [/^127\\./, /^10\\./, /^192\\.168\\./, /^169\\.254\\./, /^172\\.(1[6-9]|2\\d|3[01])\\./, /^::1$/, /^0\\./];

export const isLocal = (address) => BLOCKS.some((one) => one.test(address));
"""
KOA: Final = """
import { partsOf } from "./token.js";

export async function requireToken(ctx, next) {
  const { kind, key } = partsOf(ctx.get("authorization"));
  if (kind !== "Bearer" || key !== "made-up-key-1") ctx.throw(401, "no");
  await next();
}
"""
HONO: Final = """
import { isMember } from "./members";

export const requireMember = async (c: any, next: () => Promise<void>) => {
  const team = c.req.param("team");
  if (!isMember(c.get("user"), team)) return c.json({ error: "no member" }, 403);
  await next();
};
"""
NEXT: Final = """
import { NextResponse } from "./server";
import { isOpen } from "./open";

export function authorize(request: { nextUrl: { pathname: string }; cookies: { get(name: string): any } }) {
  if (isOpen(request.nextUrl.pathname)) return NextResponse.next();
  if (request.cookies.get("session") !== "made-up-session") return NextResponse.json({}, { status: 401 });
  return NextResponse.next();
}
"""
NEXT_SERVER: Final = """
export class NextResponse {
  static next() {
    return { status: 200, headers: new Map([["x-middleware-next", "1"]]) };
  }
  static json(body: unknown, init: { status: number }) {
    return { status: init.status, headers: new Map() };
  }
}
"""
POLICY: Final = """
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
RESULT: Final = """
import { known } from "./codes.js";

export function checkInvite({ code, email }) {
  const invite = known(code);
  if (!invite) return { ok: false, reason: "unknown" };
  if (invite.email !== email) return { ok: false, reason: "somebody else's" };
  return { ok: true, invite };
}
"""
NONCES: Final = """
import { UsedNonces } from "./replay";

export class Intake {
  private readonly used = new UsedNonces();

  verify(nonce: string, sentAt: number, now: number = Date.now()): boolean {
    if (now - sentAt > 600_000 || now < sentAt - 600_000) return false;
    return this.used.first(nonce, now);
  }
}
"""
USED: Final = """
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
APPROVED: Final = """
import { countOf } from "./approvals";

interface Change { author: string; approvals: { by: string; state: string }[] }

export function mayDeploy(change: Change): boolean {
  const given = change.approvals.filter((one) => one.state === "approved" && one.by !== change.author);
  return countOf(given.map((one) => one.by)) >= 2;
}
"""
INVITED: Final = """
import { openUntil } from "./times.js";

export function isInvitationExpired(invitation) {
  return new Date(openUntil(invitation)) < new Date();
}
"""
SEALED: Final = """
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
STORED: Final = """
import { documents } from "./generated/client.js";
import { db } from "no-such-database";
import { same } from "./names.js";

export async function canDelete(user, id) {
  const document = await documents.find(id);
  const team = await db.teams.findFirst({ where: { id: document.teamId } });
  return same(document.ownerId, user.id) || same(team.ownerId, user.id);
}
"""
COUNTER: Final = """
export class Counter {
  #all = new Map<string, number>();
  add(key: string) { this.#all.set(key, this.of(key) + 1); }
  of(key: string) { return this.#all.get(key) ?? 0; }
}
"""
