import json

from flask import request

from app.models import Profile
from pydantic import BaseModel

EDITABLE = ("name", "bio")


class Input(BaseModel):
    name: str


def fields_of(user):
    return {f.name: f for f in user._meta.concrete_fields if f.name in EDITABLE}


def may_set(name):
    return name in EDITABLE


def skips(user):
    for key, value in request.get_json().items():
        if key not in EDITABLE:
            continue
        setattr(user, key, value)
    user.save()


def refuses(user):
    body = request.get_json()
    if set(body) - set(EDITABLE):
        raise ValueError("not these")
    for key in body:
        setattr(user, key, body[key])
    user.save()


def every_field(user):
    changes = json.loads(request.data)
    fields = fields_of(user)
    unknown = sorted(set(changes) - set(fields))
    if unknown:
        raise ValueError(unknown)
    for name, value in changes.items():
        setattr(user, name, fields[name].clean(value, user))
    user.save(update_fields=list(changes))


def by_function(user):
    for name, value in request.json.items():
        if may_set(name):
            setattr(user, name, value)
    user.save()


def all_of(profile):
    body = request.json
    if not all(name in EDITABLE for name in body):
        return "no"
    for name, value in body.items():
        setattr(profile, name, value)
    profile.save()


def subset(profile):
    body = request.json
    if not set(body) <= set(EDITABLE):
        return "no"
    for name, value in body.items():
        setattr(profile, name, value)
    profile.save()


def copied():
    body = request.get_json()
    return Profile(**{k: v for k, v in body.items() if k in EDITABLE})


def filtered(user):
    body = {k: v for k, v in request.get_json().items() if k in EDITABLE}
    for name, value in body.items():
        setattr(user, name, value)
    user.save()


def named(user):
    body = request.get_json()
    for name in EDITABLE:
        if name in body:
            setattr(user, name, body[name])
    user.save()


def schema():
    return Input(**request.get_json())


def looked_at_first(user):
    payload = request.get_json()
    for field in payload:
        if field not in EDITABLE:
            return "no"
    for field, value in payload.items():
        setattr(user, field, value)
    user.save()
