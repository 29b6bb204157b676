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
