import time

from flask import Flask, request

app = Flask(__name__)


@app.post("/votes")
def vote():
    name = request.form["name"]
    with open("votes.txt", "a") as file:
        file.write(f"{int(time.time())}\t{name}\n")  # HIT[high]
    return "done"


@app.post("/audit")
def audit():
    out = open("audit.log", mode="a", encoding="utf-8")
    out.write("delete " + request.args["id"] + "\n")  # HIT[high]
    out.close()
    return "done"


@app.post("/mail")
def mail():
    with open("list.txt", "a") as file:
        file.write("%s\n" % request.form["mail"])  # HIT[high]
    return "done"


def votes():
    with open("votes.txt") as file:
        return [line.split("\t") for line in file.read().splitlines()]
