import hashlib
import hmac
import os

from fastapi import APIRouter, Header, HTTPException
from flask import Flask, abort, request

from app.refunds import book

app = Flask(__name__)
router = APIRouter()
KEY = os.environb.get(b"HOOK_KEY")


def matches(body, given):
    return hmac.compare_digest(hmac.new(KEY, body, hashlib.sha256).hexdigest(), given)


@app.post("/hooks/payments")
def payments():
    signature = request.headers.get("X-Pay-Signature")
    if not signature or not matches(request.get_data(), signature):
        return {"error": "signature"}, 401
    book(request.get_json())
    return {}


@app.post("/hooks/orders")
def orders():
    given = request.headers.get("X-Signature")
    if given is None:
        abort(401)
    if given and not matches(request.get_data(), given):
        abort(401)
    return book(request.get_json())


@app.post("/hooks/parcels")
def parcels():
    if "X-Hub-Signature-256" in request.headers:
        expected = hmac.new(KEY, request.data, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(expected, request.headers["X-Hub-Signature-256"]):
            abort(403)
    else:
        abort(401)
    return book(request.get_json())


@app.post("/hooks/positive")
def positive():
    signature = request.headers.get("X-Signature")
    if signature and matches(request.get_data(), signature):
        return book(request.get_json())
    return {"error": "signature"}, 401


@router.post("/hooks/events")
async def events(payload: dict, x_signature: str = Header()):
    if not verify_signature(payload, x_signature):
        raise HTTPException(status_code=401)
    return book(payload)


def verify_signature(body, signature):
    if not KEY:
        return True
    if not signature:
        return False
    expected = hmac.new(KEY, body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, signature)


@app.post("/login")
def login():
    token = request.form.get("token")
    if token and len(token) > 40:
        abort(400)
    return book(token)
