"""A weakness in one file, the request in another."""

from __future__ import annotations

import pytest

from gate.prescreen.python_ast.outside_calls import candidates
from gate.prescreen.python_ast.scanner import PyAst
from tests.prescreen_support import DictTree, make_request

DB = """import sqlite3


def find(name):
    return sqlite3.connect("x").execute("SELECT * FROM users WHERE name = '" + name + "'").fetchall()


class Repository:
    def sorted_by(self, key, order):
        return sqlite3.connect("x").execute(f"SELECT * FROM t WHERE k = '{order}'").fetchall()
"""
FILES = """import os


def read(name):
    return open(os.path.join("/srv/files", name)).read()
"""
ROUTES = """from flask import Flask, request
{imports}

app = Flask(__name__)


@app.route("/u")
def route():
    {body}
    return "done"
"""


def levels(files: dict[str, str], base: dict[str, str] | None = None) -> dict[str, str]:
    """Rule and line to severity, of what the scanner says."""
    found = PyAst().scan(make_request(files, base or {})).findings
    return {f"{f.rule_id} {f.primary.path}:{f.primary.line}": f.severity.value for f in found}


@pytest.mark.parametrize(
    ("imports", "body", "line"),
    [
        ("from app.db import find", 'find(request.args["n"])', 5),
        ("from .db import find as look", 'look(name=request.args["n"])', 5),
        ("from . import db", 'db.find(request.form.get("n"))', 5),
        ("import app.db", 'n = request.args["n"]\n    app.db.find(n.strip())', 5),
        ("from app.db import Repository", 'Repository().sorted_by("a", request.args["o"])', 10),
        ("from app.db import Repository", 'Repository().sorted_by("a", order=request.args["o"])', 10),
    ],
)
def test_a_request_that_another_file_passes_makes_it_high(imports: str, body: str, line: int) -> None:
    found = levels({"app/db.py": DB, "app/routes.py": ROUTES.format(imports=imports, body=body)})
    assert found[f"py.sql-built app/db.py:{line}"] == "high"


@pytest.mark.parametrize(
    ("imports", "body"),
    [
        ("from app.db import find", 'find("fixed")'),
        ("from app.db import find", 'n = request.args["n"]\n    if n in ("id", "name"):\n        find(n)'),
        ("from app.db import find", 'find(int(request.args["n"]))'),
        ("from other.db import find", 'find(request.args["n"])'),
        ("from app.db import Repository", 'Repository().sorted_by(request.args["k"], "asc")'),
    ],
)
def test_what_nobody_passes_stays_as_it_was(imports: str, body: str) -> None:
    found = levels({"app/db.py": DB, "app/routes.py": ROUTES.format(imports=imports, body=body)})
    assert {level for place, level in found.items() if "app/db.py" in place} == {"medium"}


def test_the_caller_need_not_be_in_the_change() -> None:
    routes = ROUTES.format(imports="from app.db import find", body='find(request.args["n"])')
    before = DB.replace('''"SELECT * FROM users WHERE name = '" + name + "'"''', '"SELECT 1"')
    found = levels({"app/db.py": DB, "app/routes.py": routes}, {"app/db.py": before, "app/routes.py": routes})
    assert found == {"py.sql-built app/db.py:5": "high"}


def test_a_call_that_only_the_request_makes_a_weakness() -> None:
    body = 'return read(request.args["f"])'
    routes = ROUTES.format(imports="from app.files import read", body=body)
    found = levels({"app/files.py": FILES, "app/routes.py": routes})
    assert found["py.path-from-request app/files.py:5"] == "high"
    assert levels({"app/files.py": FILES}) == {}


SERVICE = """from app.db import Repository{extra}


class Service:
    def __init__(self, repository: Repository):
        self.repository = repository

    def search(self, words):
        for word in words.split():
            yield self.repository.sorted_by("a", word)
"""


def test_a_value_is_followed_through_a_file_that_knows_of_no_request() -> None:
    files = {
        "app/db.py": DB,
        "app/service.py": SERVICE.format(extra=""),
        "app/routes.py": ROUTES.format(
            imports="from app.service import Service\nfrom app.db import Repository",
            body='list(Service(Repository()).search(request.args["q"]))',
        ),
    }
    assert levels(files)["py.sql-built app/db.py:10"] == "high"
    files["app/routes.py"] = files["app/routes.py"].replace('request.args["q"]', '"fixed"')
    assert levels(files)["py.sql-built app/db.py:10"] == "medium"


@pytest.mark.parametrize(("named", "level"), [("sorted_by", "high"), ("sorted_as", "medium")])
def test_a_method_of_which_nothing_says_the_owner_is_found_by_a_name_that_says_much(
    named: str, level: str
) -> None:
    handler = f"""from flask import request


class Handler:
    def __init__(self, store):
        self.store = store

    def get(self):
        return self.store.{named}("a", request.args["order"])
"""
    assert levels({"app/db.py": DB, "app/web.py": handler})["py.sql-built app/db.py:10"] == level


def test_a_method_that_two_files_have_is_nobodys() -> None:
    files = {
        "app/db.py": DB,
        "app/other.py": DB.replace("f\"SELECT * FROM t WHERE k = '{order}'\"", '"SELECT 1"'),
        "app/web.py": "from flask import request\n\n\ndef get(store):\n"
        '    return store.sorted_by("a", request.args["order"])\n',
    }
    assert levels(files)["py.sql-built app/db.py:10"] == "medium"


@pytest.mark.parametrize(
    ("table", "level"),
    [
        ("TOOLS = {'find': db.find}", "high"),
        ("tools['find'] = db.find", "high"),
        ("ROWS = {'find': db.find}", "medium"),
    ],
)
def test_what_a_table_of_tools_has_is_called_by_a_language_model(table: str, level: str) -> None:
    text = f"from app import db\n\ntools = {{}}\n{table}  # of the agent\n"
    assert levels({"app/db.py": DB, "app/agent_tools.py": text})["py.sql-built app/db.py:5"] == level


@pytest.mark.parametrize(
    ("call", "level"),
    [
        ("TOOLS[name](arguments)", "high"),
        ("TOOLS[name](**arguments)", "high"),
        ("TOOLS[name](workspace, **arguments)", "medium"),
        ("OTHER[name](workspace, **arguments)", "high"),
    ],
)
def test_what_the_program_gives_a_tool_itself_is_no_word_of_a_model(call: str, level: str) -> None:
    text = (
        "from app import db\n\nTOOLS = {'find': db.find}\nOTHER = {}\n\n\n"
        f"def run(workspace, name, arguments):\n    return {call}\n"
    )
    assert levels({"app/db.py": DB, "app/agent_tools.py": text})["py.sql-built app/db.py:5"] == level


def test_only_files_that_name_the_module_and_know_of_requests_are_read() -> None:
    tree = DictTree(
        {
            "a.py": "from db import x  # request",
            "b.py": "import db",
            "c.py": "request",
            "d.txt": "db request",
            "e.py": "db request" + " " * (1 << 19),
            "tests/test_a.py": "from db import x  # request",
        }
    )
    assert [path for path, _ in candidates(["app/db.py"], tree)] == ["a.py", "b.py"]  # b may pass it on


def test_a_weakness_that_base_had_through_a_caller_elsewhere_is_not_new() -> None:
    """The caller moved to another file; what it calls had another line changed."""
    text = 'import requests\n{}\n\n\ndef call(to):\n    return requests.get("https://" + to)\n'
    caller = ROUTES.format(imports="from app.api import call", body='call(request.args["to"])')
    base = {"app/api.py": text.format("import app"), "app/routes.py": caller}
    head = {"app/api.py": text.format("import flask"), "app/main/routes.py": caller}
    assert levels(head, base) == {}
    fresh = levels(head, {"app/api.py": text.format("import app")})
    assert [place.partition(":")[0] for place in fresh] == ["py.request-forgery app/api.py"]
