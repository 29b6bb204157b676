from flask import Flask, abort, request, session

app = Flask(__name__)


@app.route("/a")
def a():
    role = request.args["role"]
    if role not in ("reader", "writer"):
        abort(400)
    session["role"] = role
    return "set"


@app.route("/b")
def b():
    session["seen"] = "yes" if request.args.get("seen") else "no"
    session["count"] = int(request.args["count"])
    return "set"
