import pymongo
from flask import request


def find(db, name):
    db.users.find({"$where": "this.name == '" + name + "'"})  # HIT[medium]
    db.users.find_one({"$where": f"this.name == '{name}'"})  # HIT


def view(db):
    return db.users.find(request.get_json())  # HIT


def login(db):
    body = request.get_json()
    return db.users.find_one({"user": body["user"], "password": body["password"]})  # HIT[high]
