from flask import Flask, request, session

app = Flask(__name__)


@app.route("/a")
def a():
    session["role"] = request.args["role"]  # HIT[medium]
    return "set"


@app.route("/b")
def b():
    session[request.form["key"]] = "1"  # HIT
    return "set"


def c(request):
    request.session["user"] = request.GET["user"]  # HIT
    request.session.setdefault("plan", request.POST.get("plan"))  # HIT
