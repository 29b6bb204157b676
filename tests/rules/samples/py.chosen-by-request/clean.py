import importlib

from flask import request

import handlers

TABLE = {"a": handlers.a}


def view(name):
    importlib.import_module("handlers." + name)
    getattr(handlers, name)()
    value = getattr(handlers, request.args["field"])
    chosen = request.args["name"]
    if chosen not in TABLE:
        return None
    getattr(handlers, chosen)()
    return TABLE[request.args["name"]](value)
