from flask import Flask, Response, make_response, request
from jinja2 import Environment
from markupsafe import Markup

app = Flask(__name__)


@app.route("/a")
def a():
    name = request.args.get("name")
    return make_response("Hello " + name)  # HIT[high]


@app.route("/b")
def b():
    return f"<p>{request.args['q']}</p>"  # HIT


@app.route("/c")
def c():
    page = open("page.html").read()
    return make_response(page.replace("{{ name }}", request.args.get("n")))  # HIT


@app.get("/d/<name>")
def d(name):
    return "Hello %s" % name  # HIT


def bold(text):
    return Markup("<b>" + text + "</b>")  # HIT


env = Environment(loader=loader)  # HIT
