import hashlib


def store(password, user):
    digest = hashlib.sha256(password.encode()).hexdigest()  # HIT[high]
    other = hashlib.sha512((user.salt + user.password).encode())  # HIT[medium]
    weak = hashlib.pbkdf2_hmac("sha256", password, user.salt, 1000)  # HIT[medium]
    return digest, other, weak
