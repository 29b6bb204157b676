from flask import Flask, render_template, session

app = Flask(__name__)


@app.route("/dashboard")
def dashboard():
    if "user" not in session:
        return "no", 403
    return render_template("dashboard.html")


@app.route("/admin")
@login_required
def admin():
    return render_template("admin.html")


@app.route("/about")
def about():
    return render_template("about.html")
