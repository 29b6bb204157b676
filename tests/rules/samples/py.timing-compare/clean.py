import hashlib
import hmac

from flask import request


def verify(key, text, given):
    return hmac.compare_digest(given, hmac.new(key, text, hashlib.sha256).digest())


def kind(token):
    if token == "abc":
        return 1
    if request.form["password"] == "":
        return 2
    return token == other
