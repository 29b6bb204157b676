from flask import Response, request


def view(session, token):
    response = Response()
    response.headers["X-Kind"] = "plain"
    response.headers["X-Name"] = request.args["name"].replace("\r", "").replace("\n", "")
    session.headers["Authorization"] = "Bearer " + token
    kind = request.args["kind"]
    if kind in ("a", "b"):
        response.headers["X-Kind"] = kind
    return response
