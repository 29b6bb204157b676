from flask import Flask, render_template, request, session

app = Flask(__name__)


@app.route("/login", methods=["POST"])
def login():
    session["user"] = request.form["user"]
    return "ok"


@app.route("/dashboard")
def dashboard():  # HIT[medium]
    return render_template("dashboard.html")
