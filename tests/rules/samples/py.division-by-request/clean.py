from flask import request


def view(a, b):
    count = int(request.args["count"])
    if count == 0:
        return "none"
    try:
        other = 1 / int(request.args["x"])
    except ZeroDivisionError:
        other = 0
    return str(10 / count), a / b, other, "name %s" % request.args["n"]
