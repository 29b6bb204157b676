import os
from pathlib import Path

from flask import Flask, abort, request, send_file

app = Flask(__name__)
ROOT = os.path.realpath("/srv/files")
BASE = Path("/srv/base").resolve()
FOLDER = os.path.join("/srv/files", "")


@app.get("/file")
def file():
    full = os.path.realpath(os.path.join(ROOT, request.args["name"]))
    if not full.startswith(ROOT + os.sep):
        abort(404)
    return send_file(full)


@app.get("/path")
def path():
    target = (BASE / request.args["name"]).resolve()
    if not str(target).startswith(f"{BASE}/"):
        abort(404)
    return target.read_text()


@app.get("/within")
def within():
    target = (BASE / request.args["name"]).resolve()
    if not target.is_relative_to(BASE):
        abort(404)
    return target.read_text()


def inside(name):
    full = os.path.abspath(os.path.join("/srv/files", name))
    return full.startswith("/srv/files/")


def joined(name):
    return os.path.realpath(os.path.join(FOLDER, name)).startswith(FOLDER)


def ended(name):
    full = os.path.realpath(os.path.join(ROOT, name))
    return (full + os.sep).startswith(ROOT)


def shown(path):
    return "home" if path.startswith("/home") else "elsewhere"


def address(folder, name):
    url = "sqlite:///" + os.path.join(os.path.abspath(folder), name)
    if url.startswith("sqlite"):
        return "local"
    return url
