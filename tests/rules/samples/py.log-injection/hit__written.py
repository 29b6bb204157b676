from flask import Flask, request

app = Flask(__name__)


@app.post("/audit")
def audit():
    with open("audit.log", "a") as file:
        file.write("{} did it\n".format(request.args["name"]))  # HIT[medium]
    return "done"
