import json

from django.contrib.auth import get_user_model
from flask import request

from app.models import Profile, User

PROTECTED = {"id", "password"}


def fields_of(user):
    return {f.name: f for f in user._meta.concrete_fields if f.name not in PROTECTED}


def may_set(name):
    return name not in PROTECTED and not name.startswith("_")


def skips(user):
    for key, value in request.get_json().items():
        if key in PROTECTED:
            continue
        setattr(user, key, value)  # HIT[high]
    user.save()


def refuses(user):
    body = request.get_json()
    if set(body) & PROTECTED:
        raise ValueError("not these")
    for key in body:
        setattr(user, key, body[key])  # HIT[high]
    user.save()


def every_field(user):
    changes = json.loads(request.data)
    fields = fields_of(user)
    unknown = sorted(set(changes) - set(fields))
    if unknown:
        raise ValueError(unknown)
    for name, value in changes.items():
        setattr(user, name, fields[name].clean(value, user))  # HIT[high]
    user.save(update_fields=list(changes))


def by_function(user):
    for name, value in request.json.items():
        if may_set(name):
            setattr(user, name, value)  # HIT[high]
    user.save()


def any_of(profile):
    body = request.json
    if any(name in PROTECTED for name in body):
        return "no"
    for name, value in body.items():
        if hasattr(profile, name) and value is not None:
            setattr(profile, name, value)  # HIT[high]
    profile.save()


def namespace(user):
    user.__dict__.update(request.get_json())  # HIT[high]
    user.save()


def copied():
    body = request.get_json()
    return Profile(**{k: v for k, v in body.items() if k != "is_admin"})  # HIT[medium]


def filtered(user):
    body = {k: v for k, v in request.get_json().items() if k not in PROTECTED}
    for name, value in body.items():
        setattr(user, name, value)  # HIT[high]
    user.save()


def model():
    return get_user_model(), User


def looked_at_first(user):
    payload = request.get_json()
    for field in payload:
        if field in PROTECTED:
            return "no"
    for field, value in payload.items():
        setattr(user, field, value)  # HIT[high]
    user.save()
