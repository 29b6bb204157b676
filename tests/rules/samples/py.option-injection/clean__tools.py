import subprocess

from flask import Flask, abort, request

app = Flask(__name__)


@app.get("/log")
def log():
    branch = request.args.get("branch", "main")
    done = subprocess.run(["git", "log", "--end-of-options", branch, "--"], capture_output=True)
    return done.stdout


@app.get("/refs")
def refs():
    branch = request.args["branch"]
    return subprocess.run(["git", "show", f"refs/heads/{branch}"], capture_output=True).stdout


@app.get("/checked")
def checked():
    branch = request.args["branch"]
    if branch.startswith("-"):
        abort(400)
    return subprocess.run(["git", "show", branch], capture_output=True).stdout


@app.get("/number")
def number():
    return subprocess.run(["git", "log", "-n", str(int(request.args["n"]))], capture_output=True).stdout


def search(pattern: str):
    return subprocess.run(["git", "grep", "-e", pattern, "--", "."], capture_output=True).stdout


TOOLS = {"search": search}
