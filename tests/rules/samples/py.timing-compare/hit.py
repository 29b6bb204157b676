import hashlib
import hmac

from flask import request


def sign(key, text):
    return hmac.new(key, text, hashlib.sha256).digest()


def verify(key, text, given):
    return given == sign(key, text)  # HIT[medium]


def login(admin_password):
    if request.form["password"] == admin_password:  # HIT[medium]
        return True
