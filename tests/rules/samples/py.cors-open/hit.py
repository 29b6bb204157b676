from fastapi.middleware.cors import CORSMiddleware
from flask import request
from flask_cors import CORS


def make(app, api):
    api.add_middleware(CORSMiddleware, allow_origins=["*"], allow_credentials=True)  # HIT[high]
    api.add_middleware(CORSMiddleware, allow_origin_regex="https?://.*", allow_credentials=True)  # HIT
    CORS(app, origins="*", supports_credentials=True)  # HIT
    CORS(app, supports_credentials=True)  # HIT
    CORS(app, resources={r"/*": {"origins": "*"}}, supports_credentials=True)  # HIT


def after(response):
    response.headers["Access-Control-Allow-Origin"] = request.headers.get("Origin")  # HIT[medium]
    return response


def public(response):
    response.headers["Access-Control-Allow-Origin"] = "*"  # HIT[low]
    return response
