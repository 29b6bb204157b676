from flask import Flask, request

from app.db import get_db

app = Flask(__name__)


@app.patch("/me")
def update_me():
    changes = request.get_json()
    columns = ", ".join(f"{key} = ?" for key in changes if key.isidentifier())
    get_db().execute(f"UPDATE users SET {columns} WHERE id = ?", (*changes.values(), 1))  # HIT[high]
    return "done"
