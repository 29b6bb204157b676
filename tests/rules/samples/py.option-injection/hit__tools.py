import asyncio
import subprocess

from flask import Flask, request

app = Flask(__name__)


@app.get("/log")
def log():
    branch = request.args.get("branch", "main")
    done = subprocess.run(["git", "log", "--oneline", branch], capture_output=True)  # HIT[high]
    return done.stdout


@app.get("/pack")
def pack():
    command = ["/usr/bin/tar", "-czf", "out.tgz"]
    command += request.args.getlist("file")
    subprocess.check_call(command)  # HIT[high]
    return "done"


@app.get("/look")
async def look():
    host = request.args["host"]
    await asyncio.create_subprocess_exec("ssh", host, "uptime")  # HIT[high]
    return "done"


@app.get("/other")
def other():
    subprocess.run(["own-tool", request.args["name"]])  # HIT[medium]
    return "done"


def search(pattern: str):
    command = ["git", "grep", "-n"]
    command += [pattern, "--", "."]
    return subprocess.run(command, capture_output=True).stdout  # HIT[high]


TOOLS = {"search": search}
