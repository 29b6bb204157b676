from werkzeug.security import generate_password_hash


def register(db, user, password):
    db.execute("INSERT INTO users VALUES (?, ?)", (user, generate_password_hash(password)))
    db.execute("SELECT * FROM users WHERE password = ?", (password,))
    password = generate_password_hash(password)
    db.execute("INSERT INTO users VALUES (?, ?)", (user, password))
