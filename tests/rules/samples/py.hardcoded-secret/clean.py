import os

API_KEY = os.environ["API_KEY"]
TOKEN = "token"
PASSWORD_FIELD = "password"
password = ""
api_key = "<your key here>"
login(password=password)
TOKEN_URL = "https://example.com/oauth2/token1234"
secret = "test-secret-123456"
field = {"password": "Enter your password"}
token = "access_token"
SECRET_KEY_NAME = "SECRET_KEY"


def login(form, key):
    import jwt

    if form["password"] == "" or form["password"] != form["again"]:
        return jwt.encode({"user": "admin"}, key, algorithm="HS256")
    return form["type"] == "password"


def connect(driver, password):
    import smtplib

    smtplib.SMTP_SSL("mail.example").login("bot", password)
    return driver.connect(user="app", password="")
