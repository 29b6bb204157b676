from flask import request


def view():
    ip = request.headers.get("X-Forwarded-For")
    if ip == "127.0.0.1":  # HIT[medium]
        return "admin"
    if request.headers["X-Real-IP"].startswith("10."):  # HIT
        return "inside"
