import os

from flask import Flask, request

app = Flask(__name__)


@app.route("/up", methods=["POST"])
def up():
    file = request.files["file"]
    file.save(os.path.join("uploads", file.filename))  # HIT[high]
    with open("static/" + request.form["name"], "wb") as f:  # HIT
        f.write(request.data)
