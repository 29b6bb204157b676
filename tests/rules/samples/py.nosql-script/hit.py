import pymongo
from flask import request


def find(db, name):
    db.users.find({"$where": "this.name == '" + name + "'"})  # HIT[medium]
    db.users.find_one({"$where": f"this.name == '{name}'"})  # HIT


def view(db):
    return db.users.find(request.get_json())  # HIT
