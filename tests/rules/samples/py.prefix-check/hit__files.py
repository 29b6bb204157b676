import os
from pathlib import Path

from flask import Flask, abort, request, send_file

app = Flask(__name__)
ROOT = os.path.realpath("/srv/files")
BASE = Path("/srv/base").resolve()


@app.get("/file")
def file():
    full = os.path.realpath(os.path.join(ROOT, request.args["name"]))
    if not full.startswith(ROOT):  # HIT[high]
        abort(404)
    return send_file(full)


@app.get("/path")
def path():
    target = (BASE / request.args["name"]).resolve()
    if not str(target).startswith(str(BASE)):  # HIT[high]
        abort(404)
    return target.read_text()


def inside(name):
    full = os.path.abspath(os.path.join("/srv/files", name))
    return full.startswith("/srv/files")  # HIT[low]


class Store:
    def __init__(self, root):
        self.root = os.path.abspath(root)

    def read(self, name):
        full = os.path.normpath(os.path.join(self.root, name))
        if full.startswith(self.root):  # HIT[low]
            return open(full).read()
        raise ValueError(name)
