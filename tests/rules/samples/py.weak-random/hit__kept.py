import random
import string

from app.db import get_db, send_mail
from app.models import Invitation

LETTERS = string.ascii_letters + string.digits


def forgot(email):
    code = "".join(random.choices(LETTERS, k=20))  # HIT[high]
    get_db().execute("UPDATE users SET reset_token = ? WHERE email = ?", (code, email))
    send_mail(email, code)


def short_code():
    return "".join(random.choice(LETTERS) for _ in range(8))  # HIT[high]


def invite(user):
    return Invitation(inviter=user, invite_token=short_code())


def remember(user):
    value = random.getrandbits(64)  # HIT[high]
    user.session_key = value


def share():
    alphabet = string.ascii_lowercase + string.digits
    token = "".join(random.choice(alphabet) for _ in range(16))  # HIT[high]
    return token


def salted():
    salt = "".join(random.choices(LETTERS, k=6))  # HIT[medium]
    return salt
