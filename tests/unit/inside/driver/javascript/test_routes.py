"""Routes of Express, Koa, Hono and Next that a module exports are asked, with all fields and with none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.inside.driver.javascript.job import run

EXPRESS = """\
import { Router } from "express";
export const router = Router();
router.use((req, res, next) => {
  if (req.get("x-secret") !== "y") return res.status(401).end();
  next();
});
router.get("/users/:id", (req, res) => {
  const { q } = req.query;
  if (!q) {
    return res.status(400).json({ error: "q" });
  }
  res.json({ id: req.params.id, q });
});
router.post("/users", async (req, res) => {
  if (!req.body.email) {
    res.status(422).send("no");
    return;
  }
  res.status(201).json({ email: req.body.email });
});
"""
APPLICATION = """\
import express from "express";
const app = express();
app.use(express.json());
app.put("/items/:id", (req, res) => {
  res.json({ id: req.params.id, name: req.body.name });
});
export default app;
"""
KOA = """\
import Router from "@koa/router";
const router = new Router();
router.post("/items/:id", async (ctx) => {
  const { name } = ctx.request.body;
  if (!name) {
    ctx.status = 400;
    return;
  }
  ctx.body = { name, id: ctx.params.id };
});
export default router;
"""
HONO = """\
import { Hono } from "hono";
const app = new Hono();
app.post("/a/:id", async (c) => {
  const { name } = await c.req.json();
  if (!name) {
    return c.text("no", 400);
  }
  return c.json({ name, id: c.req.param("id") });
});
export default app;
"""
MOUNTED = (
    EXPRESS.replace("export const router", "const router")
    + """\
import express from "express";
export const app = express();
app.use("/api", express.json(), router);
"""
)
FASTIFY = """\
export default async function users(fastify) {
  fastify.post("/users/:id", async (request, reply) => {
    const { name } = request.body;
    if (!name) {
      return reply.code(400).send("no");
    }
    return { name, id: request.params.id };
  });
}
"""
BUILT = """\
import Fastify from "fastify";
const schema = { body: { type: "object", required: ["name"], properties: { name: { type: "string" } } } };
export const app = Fastify();
app.put("/a", { schema }, async (request) => {
  return { said: request.body.name };
});
"""
LISTENS = """\
import express from "express";
import Database from "better-sqlite3";
const db = new Database("/var/lib/shop/shop.db");
db.exec("CREATE TABLE items (id INTEGER, name TEXT)");
const add = db.transaction((name) => db.prepare("INSERT INTO items VALUES (?, ?)").run(1, name));
const app = express();
app.get("/items", (req, res) => {
  add(req.query.name);
  const rows = db.prepare("SELECT * FROM items WHERE name = ?").all(req.query.name);
  if (rows.length) {
    return res.json(rows);
  }
  res.status(404).end();
});
app.listen(3000);
"""
HANDLER = """\
export async function POST(request, { params }) {
  const { id } = await params;
  const { email } = await request.json();
  if (!email) {
    return Response.json({ error: "no" }, { status: 400 });
  }
  return Response.json({ id, email });
}
"""


@pytest.mark.parametrize(
    ("text", "packages", "ran"),
    [
        (EXPRESS, ["express@5.2.1"], {4, 8, 10, 12, 15, 16, 17, 19}),
        (EXPRESS, ["express@4.21.2"], {4, 8, 10, 12, 15, 16, 17, 19}),
        (APPLICATION, ["express@5.2.1"], {5}),
        (APPLICATION, ["express@4.21.2"], {5}),
        (KOA, ["koa@3.1.1", "@koa/router@15.1.0"], {4, 6, 7, 9}),
        (HONO, ["hono@4.11.1"], {4, 6, 8}),
        (MOUNTED, ["express@5.2.1"], {4, 8, 10, 12, 15, 16, 17, 19}),
        (MOUNTED, ["express@4.21.2"], {4, 8, 10, 12, 15, 16, 17, 19}),
        (FASTIFY, ["fastify@5.6.2"], {3, 5, 7}),
        (BUILT, ["fastify@5.6.2"], {5}),
        (LISTENS, ["express@5.2.1", "better-sqlite3@12.5.0"], {8, 9, 11}),
        (HANDLER, [], {2, 3, 5, 7}),
    ],
    ids=[
        "express 5",
        "express 4",
        "application 5",
        "application 4",
        "koa",
        "hono",
        "mounted 5",
        "mounted 4",
        "plugin",
        "fastify",
        "listens",
        "handler",
    ],
)
def test_both_ways_of_a_route_run(tmp_path: Path, text: str, packages: list[str], ran: set[int]) -> None:
    told = run(tmp_path, {"routes.js": text}, "routes.js", *packages)
    assert told.lines >= ran, told


def test_no_route_is_asked_that_another_file_holds(tmp_path: Path) -> None:
    files = {
        "users.js": EXPRESS,
        "app.js": 'import express from "express";\nimport { router } from "./users.js";\n'
        'export const app = express();\napp.use("/api", router);\n',
    }
    told = run(tmp_path, files, "app.js", "express@5.2.1")
    assert [name for name, _ in told.calls if "/users" in name] == []


LISTED = """\
const HOSTS = new Set(["api.shop.example"]);
export async function POST(request) {
  const { url, kind } = await request.json();
  if (HOSTS.has(new URL(url).hostname)) {
    return new Response("known");
  }
  if (kind === "special") {
    return new Response("special");
  }
  return new Response("no", { status: 400 });
}
"""


def test_texts_of_the_code_are_tried_as_values(tmp_path: Path) -> None:
    told = run(tmp_path, {"routes.js": LISTED}, "routes.js")
    assert 5 in told.lines, told


def test_a_word_that_is_compared_with_is_tried(tmp_path: Path) -> None:
    text = LISTED.replace("if (HOSTS.has(new URL(url).hostname))", "if (url === 'x')")
    told = run(tmp_path, {"routes.js": text}, "routes.js")
    assert told.lines >= {8, 10}, told
