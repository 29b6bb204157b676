import pymongo
from flask import request


def find(db, name):
    db.users.find({"name": name})
    db.users.find({"$where": "this.a == this.b"})
    return db.users.find({"name": str(request.args["name"])})
