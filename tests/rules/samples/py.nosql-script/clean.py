import pymongo
from flask import request


def find(db, name):
    db.users.find({"name": name})
    db.users.find({"$where": "this.a == this.b"})
    return db.users.find({"name": str(request.args["name"])})


def login(db):
    body = request.get_json()
    form = request.form["user"]
    return db.users.find_one({"user": str(body["user"]), "name": form})
