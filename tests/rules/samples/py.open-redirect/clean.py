from flask import Flask, redirect, request, url_for
from urllib.parse import urlparse

app = Flask(__name__)


@app.route("/a")
def a():
    target = request.args.get("next")
    if urlparse(target).netloc:
        target = "/"
    return redirect(target)


@app.route("/b/<name>")
def b(name):
    return redirect("/users/" + name)


@app.route("/c")
def c():
    return redirect(url_for("user", name=request.args["name"]))


@app.route("/d")
def d():
    target = url_for("users")
    if request.args:
        target += "?" + request.args["query"]
    return redirect(target)
