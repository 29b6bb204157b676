import os
import uuid

from flask import Flask, request
from werkzeug.utils import secure_filename

app = Flask(__name__)


@app.route("/up", methods=["POST"])
def up():
    file = request.files["file"]
    file.save(os.path.join("uploads", secure_filename(file.filename)))
    with open(f"uploads/{uuid.uuid4()}", "wb") as f:
        f.write(request.data)
    figure.save("out.png")


@app.post("/photos")
def photo():
    picture = request.files.get("photo")
    storage.save(picture, request.form.get("album", "default"))
    storage.save(request.files["photo"])
