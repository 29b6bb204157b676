import random
import secrets

from app.db import get_db


def forgot(email):
    code = secrets.token_urlsafe(20)
    get_db().execute("UPDATE users SET reset_token = ? WHERE email = ?", (code, email))


def pick(email):
    colour = random.choice(["red", "blue"])
    get_db().execute("UPDATE users SET colour = ? WHERE email = ?", (colour, email))


def label():
    return random.choice("abc")


def make(user):
    return dict(user=user, label=label())
