"""How an application comes to stand as it is deployed: started files, accounts, settings, folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.inside.driver.harness import DRIVER, lay_tree
from tests.unit.inside.driver.javascript.job import printed

ADDS = """
export class Store {
  rows = new Map();
  addUser(fields) {
    const user = { id: this.rows.size + 1, name: fields.name, admin: fields.admin };
    this.rows.set(user.id, user);
    return { user, token: `token-of-${user.name}` };
  }
  users() { return [...this.rows.values()]; }
}
"""
STARTS = """
import http from "node:http";
import { make } from "./app.js";
import { Store } from "./store.js";
const store = new Store();
globalThis.store = store;
http.createServer(make(store)).listen(80, () => console.error(`on ${1}`));
"""
FORMS = {
    'const a = JSON.parse(process.env.WIKI_ACCOUNTS ?? "{}") as Record<string, string>;': "flat",
    'const seed = JSON.parse(process.env.SEED ?? "{}");\n'
    "for (const [mail, password] of Object.entries(seed)) add(mail, password);": "flat",
    'const users = JSON.parse(process.env.USERS ?? "{}");\nconst user = users[token];': "users",
    'const colours = JSON.parse(process.env.COLOURS ?? "{}");': "none",
}
ORIGINS = {
    'const own = process.env.SITE_ORIGIN ?? "https://a.example";\n'
    'if (headers.get("origin") !== own) refuse();': "https://a.example",
    'if (req.headers.origin !== "https://b.example") refuse();': "https://b.example",
    'const own = process.env.SITE_ORIGIN ?? "https://a.example";': "",
}


def of_driver(folder: Path, file: str, names: str, program: str) -> Any:
    at = json.dumps(str(DRIVER / "javascript" / file))
    return printed(folder, f"import {{ {names} }} from {at};\n{program}")


def test_an_application_is_started_and_nothing_listens(tmp_path: Path) -> None:
    tree = lay_tree(
        tmp_path / "t",
        {
            "package.json": '{"type": "module", "scripts": {"start": "node src/main.js"}}',
            "src/app.js": "export const make = (store) => (req, res) => res.end(store.name);",
            "src/store.js": ADDS,
            "src/main.js": STARTS,
            "tests/serve.js": 'import "../src/app.js"; server.listen(1)',
        },
    )
    program = f"""
      const {{ treeText }} = await import({json.dumps(str(DRIVER / "javascript/names.mjs"))});
      const files = treeText(process.cwd()).files;
      const program = programOf(`${{process.cwd()}}/src/app.js`, files);
      const other = programOf(`${{process.cwd()}}/src/main.js`, files) ?? null;
      await start(program, () => Boolean(globalThis.store), (one) => one);
      console.log(JSON.stringify([program.endsWith("/src/main.js"), other, globalThis.store.users().length]));
    """
    assert of_driver(tree, "deployed.mjs", "programOf, start", program) == [True, None, 0]


def test_an_operator_adds_two_users_and_no_administrator(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"package.json": '{"type": "module"}', "store.js": ADDS})
    program = """
      const { Store } = await import(`${process.cwd()}/store.js`);
      const app = { store: new Store() };
      const users = [{ username: "gate", email: "g@x", id: 7 }, { username: "other", email: "o@x", id: 8 }];
      const tools = { users, source: (f) => Function.prototype.toString.call(f), value: () => "gate" };
      const made = await added(tools, [app], (one) => one, () => false);
      const admins = app.store.users().filter((one) => one.admin !== undefined).length;
      const told = made.map(({ credential, id, signed }) => [credential, id, signed]);
      console.log(JSON.stringify([told, admins]));
    """
    made = [["token-of-gate", 1, True], ["token-of-other", 2, True]]
    assert of_driver(tree, "operator.mjs", "added", program) == [made, 0]


@pytest.mark.parametrize(("code", "form"), FORMS.items(), ids=str)
def test_accounts_in_the_environment(tmp_path: Path, code: str, form: str) -> None:
    name = code.partition("process.env.")[2].split(" ")[0]
    program = f"""
      const who = ["gate", "other"].map((name) => ({{ credential: `key-${{name}}`, username: name,
        email: `${{name}}@x` }}));
      complete({{ code: {json.dumps(code)}, data: "" }}, who);
      console.log(JSON.stringify([process.env[{json.dumps(name)}] ?? "{{}}", PASSWORD]));
    """
    text, password = of_driver(tmp_path, "settings.mjs", "complete, PASSWORD", program)
    said = json.loads(text)
    kinds = {
        "flat": {"gate": password, "other@x": password},
        "users": {"key-gate": {"username": "gate", "email": "gate@x"}},
    }
    assert all(said[key] == value for key, value in kinds.get(form, {}).items())
    assert bool(said) == (form != "none")


@pytest.mark.parametrize(("code", "origin"), ORIGINS.items(), ids=str)
def test_the_origin_of_its_own_pages(tmp_path: Path, code: str, origin: str) -> None:
    program = f"console.log(JSON.stringify(ownOrigin({json.dumps(code)}, {{}})));"
    assert of_driver(tmp_path, "cross_site.mjs", "ownOrigin", program) == origin


def test_a_folder_that_only_a_deployment_has(tmp_path: Path) -> None:
    """One that is listed gets an entry; files and folders that are there stay as they are."""
    tree = lay_tree(tmp_path / "t", {"full/one.txt": "1", "note.txt": "2"})
    program = """
      import fs from "node:fs";
      for (const name of ["repos", "full", "note.txt", "/nowhere-of-ours"]) listed(name);
      looked("repos/gate/.git");
      looked("full/.git");
      const has = fs.existsSync("repos/gate/.git/HEAD") || fs.existsSync("repos/gate");
      console.log(JSON.stringify([fs.readdirSync("repos"), fs.readdirSync("full"), has,
        fs.existsSync("/nowhere-of-ours")]));
    """
    told = of_driver(tree, "folders.mjs", "listed, looked", program)
    assert told == [["gate", "gate.txt"], ["one.txt"], True, False]
