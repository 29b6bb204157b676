from flask import Response, request


def view():
    response = Response()
    response.headers["Content-Type"] = request.headers["Content-Type"]  # HIT[medium]
    response.headers.add("X-Name", request.args.get("name"))  # HIT
    return response
