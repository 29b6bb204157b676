import json

from flask import Flask, Response, jsonify, make_response, render_template, request
from jinja2 import Environment
from markupsafe import Markup, escape

app = Flask(__name__)
env = Environment(loader=loader, autoescape=True)


@app.route("/a")
def a():
    return make_response("Hello " + escape(request.args.get("name")))


@app.route("/b")
def b():
    return render_template("b.html", q=request.args["q"])


@app.route("/c")
def c():
    return jsonify({"q": request.args["q"]})


@app.route("/d/<int:number>")
def d(number: int):
    return f"number {int(number)}"


@app.route("/e")
def e():
    return Response(json.dumps(request.args), mimetype="application/json")


safe = Markup("<b>fixed</b>")
