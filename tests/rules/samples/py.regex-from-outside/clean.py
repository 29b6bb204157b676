import re

from flask import request


def view():
    return re.search(re.escape(request.args["q"]), TEXT)


def search(pattern, text):
    return re.search(re.escape(pattern), text)


class Filter:
    def __init__(self, pattern):
        self.pattern = re.compile(pattern)

    def match(self, pattern, text):
        return re.match(pattern, text)


def name(text):
    return re.match(r"\w+", text)
