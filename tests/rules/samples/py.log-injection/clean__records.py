import json

from flask import Flask, request

app = Flask(__name__)


@app.post("/votes")
def vote():
    name = request.form["name"].replace("\n", " ").replace("\r", " ")
    with open("votes.txt", "a") as file:
        file.write(f"{name}\n")
    return "done"


@app.post("/audit")
def audit():
    with open("audit.log", "a") as file:
        file.write(json.dumps({"id": request.args["id"]}) + "\n")
    return "done"


@app.post("/number")
def number():
    with open("numbers.txt", "a") as file:
        file.write(f"{int(request.form['n'])}\n")
    return "done"


@app.post("/file")
def whole():
    with open("note.txt", "w") as file:
        file.write(request.form["text"] + "\n")
    return "done"


def votes():
    with open("votes.txt") as file:
        return file.readlines()


@app.post("/words")
def words():
    with open("votes.txt", "a") as file:
        file.write(f"{' '.join(request.form['words'].split())}\n")
    return "done"
