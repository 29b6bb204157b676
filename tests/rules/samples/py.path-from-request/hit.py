import os
from pathlib import Path

from flask import Flask, request, send_file

app = Flask(__name__)


@app.route("/a")
def a():
    path = request.args.get("path")
    if os.path.exists(path):
        os.remove(path)  # HIT[high]
    open(os.path.join("static", path))  # HIT
    Path("static", request.args["p"]).read_text()  # HIT
    return send_file("./static/%s" % path)  # HIT


@app.route("/b/<name>")
def b(name):
    with open(f"files/{name}") as f:  # HIT
        return f.read()


def read(filename, folder):
    path = os.path.join(folder, filename)
    with open(path) as f:  # HIT
        return f.read()
