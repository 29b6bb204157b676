from flask import Flask

from store import db

app = Flask(__name__)


@app.route("/admin/users/<int:number>", methods=["POST"])
def remove(number):  # HIT
    db.remove(number)
    return "gone"
