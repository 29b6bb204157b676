import traceback

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from flask import Flask, jsonify

app = Flask(__name__)


@app.route("/a")
def a():
    try:
        return work()
    except Exception as error:
        return jsonify({"error": str(error)})  # HIT[medium]


@app.route("/b")
def b():
    try:
        return work()
    except Exception:
        return traceback.format_exc(), 500  # HIT


def read_bytes(stream, count):
    data = stream.read(count)
    if len(data) < count:
        raise EOFError(data)  # HIT
    return data


router = APIRouter(prefix="/stats")


@router.get("")
def stats():
    try:
        return work()
    except Exception as error:
        return JSONResponse(status_code=500, content={"error": str(error)})  # HIT


@router.get(path="/all")
def every():
    try:
        return work()
    except Exception as error:
        return {"error": str(error)}  # HIT
