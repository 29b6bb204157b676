from flask import Flask

app = Flask(__name__)
app.secret_key = "your_secret_key"  # HIT[medium]
app.config["SECRET_KEY"] = "dev"  # HIT
API_KEY = "p7YhXM3h6PSXapEl7Fy57neXuM33zUPB"  # HIT
connect(password="Tr0ub4dor&3xy")  # HIT
settings = {"auth_token": "a8f5f167f44f4964e6c998dee827110c"}  # HIT


def login(form):
    import jwt

    if form["user"] == "admin" and form["password"] == "admin123":  # HIT
        return jwt.encode({"user": "admin"}, "my-key", algorithm="HS256")  # HIT


def connect(driver):
    import smtplib

    server = smtplib.SMTP_SSL("mail.example")
    server.login("bot", "Passw0rd")  # HIT
    return driver.connect(user="app", password="calvin99")  # HIT


PAYMENT_SECRET = "q8Zp2Lw9XvT4rNs7KdJ3mBfY6hGc1UeA"  # HIT[high]
MAPS_API_KEY = "q8Zp2Lw9XvT4rNs7KdJ3mBfY6hGc1UeA"  # HIT[medium]
