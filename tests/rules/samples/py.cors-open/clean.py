from fastapi.middleware.cors import CORSMiddleware
from flask import request
from flask_cors import CORS

ALLOWED = {"https://app.example"}


def make(app, api):
    api.add_middleware(CORSMiddleware, allow_origins=["https://app.example"], allow_credentials=True)
    api.add_middleware(CORSMiddleware, allow_origins=["*"])
    CORS(app)
    CORS(app, origins=["https://app.example"], supports_credentials=True)


def after(response):
    origin = request.headers.get("Origin")
    if origin in ALLOWED:
        response.headers["Access-Control-Allow-Origin"] = origin
    return response
