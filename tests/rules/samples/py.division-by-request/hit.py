from flask import request


def view():
    total = float(request.args.get("total"))
    count = float(request.args.get("count"))
    return str(total / count)  # HIT[medium]
