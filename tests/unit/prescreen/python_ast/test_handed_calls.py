"""Calls that a queue, a thread or an executor makes later pass on what a request decides."""

from __future__ import annotations

import pytest

from tests.unit.prescreen.python_ast.test_outside_calls import levels

TASKS = """import subprocess

from app.queue import celery


@celery.task
def convert(name, size="1"):
    subprocess.run("convert " + name, shell=True)


@celery.task(bind=True)
def bound(self, name):
    subprocess.run("convert " + name, shell=True)
"""
ROUTES = """import threading

from flask import Flask, request

from app import tasks
from app.queue import pool

app = Flask(__name__)


@app.post("/")
def route():
    name = request.form["name"]
    {call}
    return "done"
"""


@pytest.mark.parametrize(
    ("call", "line"),
    [
        ("tasks.convert.delay(name)", 8),
        ("tasks.convert.delay(name=name)", 8),
        ("tasks.convert.apply_async(args=[name], countdown=3)", 8),
        ("tasks.convert.apply_async((name,))", 8),
        ("tasks.convert.apply_async(kwargs={'name': name})", 8),
        ("tasks.bound.delay(name)", 13),
        ("pool.submit(tasks.convert, name)", 8),
        ("pool.run_in_executor(None, tasks.convert, name)", 8),
        ("threading.Thread(target=tasks.convert, args=(name,)).start()", 8),
        ("pool.add_task(tasks.convert, name)", 8),
    ],
)
def test_a_task_is_given_what_the_request_says(call: str, line: int) -> None:
    told = levels({"app/tasks.py": TASKS, "app/routes.py": ROUTES.format(call=call)})
    assert [key for key, level in told.items() if level == "high"] == [
        f"py.shell-command app/tasks.py:{line}"
    ]


@pytest.mark.parametrize(
    "call",
    [
        "tasks.convert.delay('a')",
        "tasks.convert.delay('a', size=name)",
        "tasks.convert.apply_async(args=['a'], queue=name)",
        "pool.submit(print, name)",
    ],
)
def test_what_goes_to_another_parameter_is_not_told(call: str) -> None:
    told = levels({"app/tasks.py": TASKS, "app/routes.py": ROUTES.format(call=call)})
    assert "high" not in told.values()
