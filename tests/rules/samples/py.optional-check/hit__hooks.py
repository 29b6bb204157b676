import hashlib
import hmac
import os

from fastapi import APIRouter, Header, HTTPException
from flask import Flask, abort, request

from app.refunds import book

app = Flask(__name__)
router = APIRouter()
KEY = os.environb[b"HOOK_KEY"]


def matches(body, given):
    return hmac.compare_digest(hmac.new(KEY, body, hashlib.sha256).hexdigest(), given)


@app.post("/hooks/payments")
def payments():
    signature = request.headers.get("X-Pay-Signature")
    if signature and not matches(request.get_data(), signature):  # HIT[high]
        return {"error": "signature"}, 401
    book(request.get_json())
    return {}


@app.post("/hooks/orders")
def orders():
    given = request.headers.get("X-Signature")
    if given is not None:  # HIT[high]
        if not matches(request.get_data(), given):
            abort(401)
    return book(request.get_json())


@app.post("/hooks/parcels")
def parcels():
    if "X-Hub-Signature-256" in request.headers:  # HIT[high]
        expected = hmac.new(KEY, request.data, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(expected, request.headers["X-Hub-Signature-256"]):
            abort(403)
    return book(request.get_json())


@router.post("/hooks/events")
async def events(payload: dict, x_signature: str | None = Header(default=None)):
    if x_signature and not verify_signature(payload, x_signature):  # HIT[high]
        raise HTTPException(status_code=401)
    return book(payload)


@app.post("/hooks/stock")
def stock():
    signature = request.headers.get("X-Signature", "")
    good = matches(request.data, signature) if signature else True  # HIT[high]
    if not good:
        abort(401)
    return book(request.get_json())


def verify_signature(body, signature):
    if not signature:  # HIT[high]
        return True
    expected = hmac.new(KEY, body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, signature)


def ensure_signed(body, signature):
    if signature is None:  # HIT[high]
        return
    expected = hmac.new(KEY, body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, signature):
        raise PermissionError("signature")
