from flask import request


def after(response):
    response.headers["Access-Control-Allow-Origin"] = request.headers.get("Origin")  # HIT[high]
    response.headers["Access-Control-Allow-Credentials"] = "true"
    return response
