import subprocess

from flask import Flask, request

app = Flask(__name__)


@app.get("/search")
def search():
    command = ["git", "grep", "-n"]
    if request.args.get("case"):
        command.append("-i")
    command += ["-e", request.args["pattern"], "--", "."]
    return subprocess.run(command, capture_output=True).stdout
