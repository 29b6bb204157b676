"""A request reaches the shell through functions of the same file."""

import shlex
import subprocess

from flask import Flask, request

app = Flask(__name__)


class Mirror:
    def fetch(self, address):
        self.run("fetch", address)

    def run(self, verb, what):
        subprocess.run(f"git {verb} {what}", shell=True)  # HIT[high]


def archive(folder):
    subprocess.run("tar cf out.tar " + folder, shell=True)  # HIT[high]


def checked(folder):
    subprocess.run("tar cf out.tar " + folder, shell=True)  # HIT[medium]


def quoted(folder):
    subprocess.run("tar cf out.tar " + folder, shell=True)  # HIT[medium]


@app.route("/archive")
def route():
    archive(request.args["folder"])
    folder = request.args["folder"]
    if folder in ("a", "b"):
        checked(folder)
    quoted(folder=shlex.quote(folder))
    Mirror().fetch(request.form["address"])
    return "done"
