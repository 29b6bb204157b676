import os
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import FileResponse
from flask import Flask, request, send_file

app = Flask(__name__)
router = APIRouter()


@app.route("/a")
def a():
    path = request.args.get("path")
    if os.path.exists(path):
        os.remove(path)  # HIT[high]
    open(os.path.join("static", path))  # HIT
    Path("static", request.args["p"]).read_text()  # HIT
    return send_file("./static/%s" % path)  # HIT


@app.route("/b/<name>")
def b(name):
    with open(f"files/{name}") as f:  # HIT
        return f.read()


def read(filename, folder):
    path = os.path.join(folder, filename)
    with open(path) as f:  # HIT
        return f.read()


class Storage:
    def __init__(self, root):
        self.root = Path(root)

    def inside(self, name):
        path = self.root.joinpath(name).resolve()
        if not path.is_relative_to(self.root.resolve()):
            raise ValueError(name)
        return path

    def anywhere(self, name):
        return self.root.joinpath(name)


def storage_of_ours():
    return Storage("/srv/files")


@router.get("/inside")
def inside(name: str, storage: Storage = Depends(storage_of_ours)):
    return FileResponse(storage.inside(name))  # HIT[low]


@router.get("/inside-too")
def inside_too(name: str, storage: Annotated[Storage, Depends(storage_of_ours)]):
    return FileResponse(storage.inside(name))  # HIT[low]


@router.get("/anywhere")
def anywhere(name: str, storage: Annotated[Storage, Depends(storage_of_ours)]):
    return FileResponse(storage.anywhere(name))  # HIT[high]
