import os
from pathlib import Path

from flask import Flask, request, send_from_directory
from werkzeug.utils import secure_filename

app = Flask(__name__)


@app.route("/a")
def a():
    name = secure_filename(request.args.get("path"))
    open(os.path.join("static", name))
    return send_from_directory("static", request.args["x"])


@app.route("/b")
def b():
    path = os.path.realpath(os.path.join("static", request.args["x"]))
    if not path.startswith("/srv/static/"):
        return ""
    return open(path).read()


@app.route("/c")
def c():
    name = request.args["x"]
    if name not in ("a.txt", "b.txt"):
        return ""
    return open(name).read()


def read(path):
    return open(path).read()


def join(folder, filename):
    full = os.path.abspath(os.path.join(folder, filename))
    if os.path.commonpath([full, folder]) != folder:
        raise ValueError(filename)
    return open(full).read()


def table(folder, key):
    return open(os.path.join(folder, key + ".json")).read()


def document(request, number):
    from django.http import FileResponse
    from django.shortcuts import get_object_or_404

    found = get_object_or_404(Document, id=number)
    other = Document.objects.get(id=number)
    return FileResponse(open(found.path)), open(other.path)
