from flask import Flask, request

from app.db import get_db

app = Flask(__name__)
ALLOWED = ("email", "display")


@app.patch("/me")
def update_me():
    changes = request.get_json()
    changes = {key: changes[key] for key in ALLOWED if key in changes}
    columns = ", ".join(f"{key} = ?" for key in changes)
    get_db().execute(f"UPDATE users SET {columns} WHERE id = ?", (*changes.values(), 1))
    return "done"


@app.patch("/other")
def update_other():
    changes = request.get_json()
    columns = ", ".join(f"{key} = ?" for key in changes if key in ("email", "display"))
    get_db().execute(f"UPDATE users SET {columns} WHERE id = ?", (1,))
    return "done"
