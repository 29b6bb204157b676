from flask import request


def register(db, user, password):
    db.execute("INSERT INTO users VALUES (?, ?)", (user, password))  # HIT[medium]
    db.execute("UPDATE users SET password = ? WHERE id = ?", [request.form["password"], 1])  # HIT
