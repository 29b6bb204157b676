import re

from flask import request


def view():
    return re.search(request.args["q"], TEXT)  # HIT[medium]


def search(pattern, text):
    return bool(re.search(pattern, text))  # HIT[medium]
