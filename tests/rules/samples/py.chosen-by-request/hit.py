import importlib

from flask import request

import handlers


def view():
    importlib.import_module(request.args["module"])  # HIT[high]
    getattr(handlers, request.args["name"])()  # HIT
    action = getattr(handlers, request.args["name"])  # HIT
    action()
    return globals()[request.args["name"]]()  # HIT
