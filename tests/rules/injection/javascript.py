"""JavaScript and TypeScript: in a route of Express, or whole files."""

from __future__ import annotations

HEAD = """const fs = require('fs');
const path = require('path');
const cp = require('child_process');
const axios = require('axios');
const _ = require('lodash');
const SORTS = ['name', 'date'];
const TABLES = { a: 'alpha', b: 'beta' };
"""


def route(body: str) -> str:
    """A route with this body."""
    return f"{HEAD}app.get('/x', async (req, res) => {{\n  {body}\n}});\n"


PAIRS = [
    ("sql", route("await db.query(`select * from t where id = '${req.query.id}'`);"),
     route("await db.query('select * from t where id = ?', [req.query.id]);")),
    ("sql", route("const id = req.params.id; db.query('select * from t where id = ' + id);"),
     route("const id = parseInt(req.params.id, 10); db.query('select * from t where id = ' + id);")),
    ("sql", route("const s = req.query.sort; await knex.raw('select * from t order by ' + s);"),
     route("const s = req.query.sort; if (!SORTS.includes(s)) return res.sendStatus(400);"
           " await knex.raw('select * from t order by ' + s);")),
    ("sql", route("let s = req.query.sort; if (s) s = s.trim(); db.query('select * from t order by ' + s);"),
     route("let s = req.query.sort; if (!SORTS.includes(s)) s = 'name'; db.query('select 1 from t order by ' + s);")),
    ("sql", route("const t = req.query.t; db.query(`select * from ${t}`);"),
     route("const t = TABLES[req.query.t]; db.query(`select * from ${t}`);")),
    ("sql", route("let w = ''; switch (req.query.k) { case 'a': w = 'x'; break; default: w = req.query.k; }"
                  " db.query('select * from t where ' + w);"),
     route("let w = ''; switch (req.query.k) { case 'a': w = 'x'; break; default: w = 'y'; }"
           " db.query('select * from t where ' + w);")),
    ("sql", route("const q = `select * from t where n = '${req.body.n}'`; if (true) { await pool.query(q); }"),
     route("const q = `select * from t where n = '${req.body.n}'`; if (false) { await pool.query(q); }")),
    ("sql", route("const o = { a: req.query.a, b: 'x' }; db.query('select * from t where n = ' + o.a);"),
     route("const o = { a: req.query.a, b: 'x' }; db.query('select * from t where n = ' + o.b);")),
    ("sql", route("const ids = req.body.ids; db.query(`select * from t where id in (${ids.join(',')})`);"),
     route("const ids = req.body.ids; const m = ids.map(() => '?').join(',');"
           " db.query(`select * from t where id in (${m})`, ids);")),
    ("sql", route("const { q } = req.query; await sequelize.query('select * from t where n = \"' + q + '\"');"),
     route("const { q } = req.query; await sequelize.query('select * from t where n = :q', { replacements: { q } });")),
    ("sql", route("await prisma.$queryRawUnsafe(`select * from t where n = '${req.query.n}'`);"),
     route("await prisma.$queryRaw`select * from t where n = ${req.query.n}`;")),
    ("nosql", "const mongoose = require('mongoose');\n" + route("await User.findOne({ name: req.body.name });"),
     "const mongoose = require('mongoose');\n" + route("await User.findOne({ name: String(req.body.name) });")),
    ("nosql", "const mongoose = require('mongoose');\n" + route("const n = req.body.name; await User.findOne({ name: n });"),
     "const mongoose = require('mongoose');\n"
     + route("const n = req.body.name; if (typeof n !== 'string') return; await User.findOne({ name: n });")),
    ("shell", route("cp.exec('ping -c 1 ' + req.query.host);"), route("cp.execFile('ping', ['-c', '1', req.query.host]);")),
    ("shell", route("const h = req.query.host; cp.exec(`nslookup ${h}`);"),
     route("const h = req.query.host; if (!/^[a-z0-9.-]+$/.test(h)) return; cp.exec(`nslookup ${h}`);")),
    ("shell", route("cp.spawn('sh', ['-c', 'ls ' + req.body.d]);"), route("cp.spawn('ls', ['--', req.body.d]);")),
    ("code", route("res.json(eval(req.body.formula));"), route("res.json(JSON.parse(req.body.formula));")),
    ("code", route("const f = new Function('x', req.body.code); res.json(f(1));"),
     route("const f = new Function('x', 'return x'); res.json(f(req.body.code));")),
    ("path", route("fs.readFile(path.join('/data', req.params.name), cb);"),
     route("fs.readFile(path.join('/data', path.basename(req.params.name)), cb);")),
    ("path", route("const p = path.resolve('/data', req.query.f); res.send(fs.readFileSync(p));"),
     route("const p = path.resolve('/data', req.query.f); if (!p.startsWith('/data/')) return res.sendStatus(403);"
           " res.send(fs.readFileSync(p));")),
    ("path", route("const f = req.query.f; fs.unlinkSync('/up/' + f);"),
     route("const f = req.query.f; if (f.includes('..')) return res.sendStatus(400); fs.unlinkSync('/up/' + f);")),
    ("ssrf", route("const r = await fetch(req.query.url); res.json(await r.json());"),
     route("const r = await fetch(`https://api.example/users/${encodeURIComponent(req.query.u)}`); res.json(1);")),
    ("ssrf", route("const u = new URL(req.query.url); await axios.get(u.href);"),
     route("const u = new URL(req.query.url); if (!HOSTS.has(u.hostname)) return; await axios.get(u.href);")),
    ("xss", route("res.send('<h1>Hello ' + req.query.name + '</h1>');"),
     route("res.send('<h1>Hello ' + escapeHtml(req.query.name) + '</h1>');")),
    ("xss", route("res.send(`<p>${req.query.q}</p>`);"), route("res.json({ q: `<p>${req.query.q}</p>` });")),
    ("template", "const ejs = require('ejs');\n" + route("res.end(ejs.render(req.body.t, {}));"),
     "const ejs = require('ejs');\n" + route("res.end(ejs.render('<%= t %>', { t: req.body.t }));")),
    ("deserialise", "const s = require('node-serialize');\n" + route("s.unserialize(req.cookies.profile);"),
     "const s = require('node-serialize');\n" + route("JSON.parse(req.cookies.profile);")),
    ("redirect", route("res.redirect(req.query.next);"),
     route("const n = req.query.next; res.redirect('/app/' + n);")),
    ("redirect", route("const n = req.query.next || '/'; res.redirect(n);"),
     route("const n = req.query.next; if (!['/a', '/b'].includes(n)) return; res.redirect(n);")),
    ("proto", route("_.merge(settings, req.body);"), route("_.merge(settings, { theme: String(req.body.theme) });")),
    ("sql", "import { Controller, Get, Query } from '@nestjs/common';\n@Controller('x')\nexport class A {\n"
            "  constructor(private readonly db: Pool) {}\n  @Get()\n  async f(@Query('id') id: string) {\n"
            "    return this.db.query(`select * from t where id = '${id}'`);\n  }\n}\n",
     "import { Controller, Get, Query, ParseIntPipe } from '@nestjs/common';\n@Controller('x')\nexport class A {\n"
     "  constructor(private readonly db: Pool) {}\n  @Get()\n  async f(@Query('id', ParseIntPipe) id: number) {\n"
     "    return this.db.query(`select * from t where id = '${id}'`);\n  }\n}\n"),
    ("shell", "const { exec } = require('child_process');\nfunction run(name) {\n  exec('convert ' + name);\n}\n"
              "router.post('/c', (req, res) => { run(req.body.name); });\n",
     "const { exec } = require('child_process');\nfunction run(name) {\n  exec('convert ' + name);\n}\n"
     "router.post('/c', (req, res) => { run('fixed.png'); });\n"),
    ("shell", "const { execSync } = require('child_process');\nserver.tool('ls', {}, async ({ dir }) => {\n"
              "  return execSync(`ls ${dir}`);\n});\n",
     "const { execFileSync } = require('child_process');\nserver.tool('ls', {}, async ({ dir }) => {\n"
     "  return execFileSync('ls', ['--', dir]);\n});\n"),
    ("path", route("const u = new URL(req.query.u); fs.readFileSync(path.join('/certs', u.pathname));"),
     route("const u = new URL(req.query.u); fs.readFileSync(path.join('/certs', u.hostname));")),
    ("redirect", route("res.redirect(`${req.query.next}`);"), route("res.redirect(`${BASE}${req.query.next}`);")),
    ("jwt", route("const p = jwt.decode(req.headers.token); res.json(p);"),
     route("const p = jwt.verify(req.headers.token, key); res.json(jwt.decode(req.headers.token));")),
]  # fmt: skip
