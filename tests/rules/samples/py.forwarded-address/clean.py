from flask import request


def view():
    ip = request.headers.get("X-Forwarded-For")
    log(ip)
    if request.remote_addr == "127.0.0.1":
        return "admin"
    if ip is None:
        return "direct"
