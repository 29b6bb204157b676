from flask import request

from models import User, UserSchema

ALLOWED = {"name", "mail"}


def update(user):
    for key, value in request.json.items():
        if key in ALLOWED:
            setattr(user, key, value)


def create():
    User(name=request.json["name"]).save()
    picked = {key: request.json[key] for key in ALLOWED}
    User(**picked).save()
    User(**UserSchema().load(request.json)).save()
    for key in ("a", "b"):
        setattr(create, key, 1)


def fastapi(user: UserSchema):
    User(**user.model_dump())
