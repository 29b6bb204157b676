"""Second order: what one request stores, another one reads from the database and gives to a sink."""

from __future__ import annotations

import pytest

from gate.prescreen.python_ast.stored.statements import Selected, Written, selected, written
from tests.unit.prescreen.python_ast.test_outside_calls import levels

HEAD = """import subprocess

from flask import Blueprint, Response, jsonify, render_template_string, request, session

from shop.db import get_db, current_user

bp = Blueprint("b", __name__)


@bp.get("/x/<int:key>")
def show(key):
    db = get_db()
    {body}
    return jsonify(ok=True)
"""
WRITER = """from flask import Blueprint, request, session

from shop.db import get_db

bp = Blueprint("w", __name__)


@bp.post("/devices")
def add():
    db = get_db()
    {body}
    db.commit()
    return "stored"
"""
DB = """import sqlite3

from flask import g, session


def get_db():
    return g.db


def current_user():
    return get_db().execute("SELECT * FROM devices WHERE id = ?", (session["id"],)).fetchone()
"""
STORED = (
    'db.execute("INSERT INTO devices (owner, host) VALUES (?, ?)", (session["id"], request.json["host"]))'
)
ROW = 'row = db.execute("SELECT label, host FROM devices WHERE id = ?", (key,)).fetchone()\n    '


def found(body: str, writer: str = STORED) -> dict[str, str]:
    """The severe findings of the reading file, which alone is new."""
    base = {"shop/write.py": WRITER.format(body=writer), "shop/db.py": DB}
    told = levels({**base, "shop/read.py": HEAD.format(body=body)}, base)
    return {key: level for key, level in told.items() if level == "high"}


@pytest.mark.parametrize(
    ("rule", "body"),
    [
        ("py.shell-command", ROW + "subprocess.run(f\"ping {row['host']}\", shell=True)"),
        ("py.shell-command", ROW + 'subprocess.run("ping " + row[1], shell=True)'),
        ("py.shell-command", ROW + 'label, host = row\n    subprocess.run("ping " + host, shell=True)'),
        ("py.shell-command", ROW + 'subprocess.run("ping " + dict(row).get("host"), shell=True)'),
        ("py.template-injection", ROW + 'render_template_string(row["host"])'),
        ("py.sql-built", ROW + "db.execute(f\"SELECT * FROM t WHERE h = '{row['host']}'\")"),
        (
            "py.sql-built",
            "me = current_user()\n    db.execute(f\"SELECT * FROM t WHERE h = '{me['host']}'\")",
        ),
        (
            "py.shell-command",
            """for row in db.execute("SELECT * FROM devices"):
        subprocess.run("ping " + row["host"], shell=True)""",
        ),
    ],
)
def test_a_stored_value_is_the_requests_that_wrote_it(rule: str, body: str) -> None:
    assert any(key.startswith(f"{rule} shop/read.py") for key in found(body))


@pytest.mark.parametrize(
    ("body", "writer"),
    [
        (ROW + 'subprocess.run(["ping", row["host"]])', STORED),
        (ROW + 'subprocess.run("ping " + row["label"], shell=True)', STORED),  # nobody outside writes it
        (ROW + 'db.execute("SELECT * FROM t WHERE h = ?", (row["host"],))', STORED),
        (ROW + "subprocess.run(f\"ping {int(row['host'])}\", shell=True)", STORED),
        (
            ROW + 'subprocess.run("ping " + row["host"], shell=True)',
            'db.execute("INSERT INTO devices (owner, host) VALUES (?, ?)", (session["id"], "127.0.0.1"))',
        ),
        (
            ROW + 'subprocess.run("ping " + row["host"], shell=True)',
            'db.execute("INSERT INTO printers (owner, host) VALUES (?, ?)", (1, request.json["host"]))',
        ),
    ],
)
def test_what_nobody_outside_stores_or_what_is_bound_is_not_told(body: str, writer: str) -> None:
    assert found(body, writer) == {}


MODELS = """from app.db import Base


class Hook(Base):
    __tablename__ = "hooks"
    url = 1
"""
ROUTES = """from fastapi import APIRouter, Depends
from pydantic import BaseModel

from app.db import get_session
from app.models import Hook

router = APIRouter()


class HookIn(BaseModel):
    url: str


@router.post("/")
async def add(body: HookIn, session=Depends(get_session)):
    session.add(Hook(url={value}))
"""
NOTIFY = """import httpx
from sqlalchemy import select

from app.models import Hook


async def deliver(session, key):
    hook = await session.get(Hook, key)
    httpx.post(hook.url)
    for other in (await session.execute(select(Hook))).scalars():
        {check}httpx.post(other.url)
"""


@pytest.mark.parametrize(
    ("value", "check", "lines"),
    [
        ("body.url", "", [9, 11]),
        ('"https://a.example/"', "", []),
        ("body.url", "if not is_public(other.url):\n            continue\n        ", [9]),
    ],
)
def test_objects_of_models_are_rows(value: str, check: str, lines: list[int]) -> None:
    base = {"app/models.py": MODELS, "app/routes.py": ROUTES.format(value=value)}
    told = levels({**base, "app/notify.py": NOTIFY.format(check=check)}, base)
    high = [key for key, level in told.items() if level == "high"]
    assert sorted(high) == sorted(f"py.request-forgery app/notify.py:{line}" for line in lines)


def test_a_form_of_django_writes_its_fields() -> None:
    base = {
        "blog/forms.py": "from django import forms\nfrom blog.models import Doc\n\n\n"
        "class DocForm(forms.ModelForm):\n"
        "    class Meta:\n        model = Doc\n        fields = ['name']\n",
    }
    view = (
        "from pathlib import Path\nfrom django.http import FileResponse\n"
        "from django.shortcuts import get_object_or_404\nfrom blog.models import Doc\n\n"
        "MEDIA = Path('/srv/media')\n"
        "\n\ndef download(request, pk):\n    doc = get_object_or_404(Doc, pk=pk)\n"
        "    return FileResponse(open(MEDIA / doc.{column}, 'rb'))\n"
    )
    told = levels({**base, "blog/files.py": view.format(column="name")}, base)
    assert told["py.path-from-request blog/files.py:11"] == "high"
    assert not levels({**base, "blog/files.py": view.format(column="digest")}, base)


def test_statements() -> None:
    assert selected("SELECT a.id, u.name AS who FROM s.items a JOIN users u ON u.id = a.x") == Selected(
        ("items", "users"), ("id", "who")
    )
    assert selected("DELETE FROM t") is None
    assert written("INSERT INTO t (a, b, c) VALUES (?, lower(?), 3)") == [
        Written("t", "a", 0),
        Written("t", "b", 1),
    ]
    assert written("update t set a = %s, b = :name where c = ?") == [
        Written("t", "a", 0),
        Written("t", "b", "name"),
    ]
    assert written("SELECT 1") == written("INSERT INTO t VALUES") == written("") == []


def test_a_column_that_holds_no_text_is_nobodys() -> None:
    base = {
        "blog/models.py": "from django.db import models\n\n\nclass Doc(models.Model):\n"
        "    name = models.CharField(max_length=9)\n    day = models.DateField()\n",
        "blog/forms.py": "from django import forms\nfrom blog.models import Doc\n\n\n"
        "class DocForm(forms.ModelForm):\n    class Meta:\n        model = Doc\n        fields = '__all__'\n",
    }
    view = (
        "import subprocess\nfrom blog.models import Doc\n\n\n"
        "def show(request, pk):\n    doc = Doc.objects.get(pk=pk)\n"
        "    subprocess.run('cal ' + str(doc.{column}), shell=True)\n"
    )
    assert (
        levels({**base, "blog/v.py": view.format(column="name")}, base)["py.shell-command blog/v.py:7"]
        == "high"
    )
    told = levels({**base, "blog/v.py": view.format(column="day")}, base)
    assert "high" not in told.values()
