from flask import request

from models import User, db


def update(user):
    for key, value in request.json.items():
        setattr(user, key, value)  # HIT[high]
    db.session.commit()


def create():
    User(**request.get_json()).save()  # HIT
    data = request.get_json()
    User.objects.create(**data)  # HIT


async def starlette(req):
    body = await req.json()
    User(**body)  # HIT
