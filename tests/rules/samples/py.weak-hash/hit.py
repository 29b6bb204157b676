import hashlib
from hashlib import md5


def sign_document(text):
    return hashlib.sha1(text).hexdigest()  # HIT[medium]


def matches(certificate, known):
    return md5(certificate.encode()).hexdigest() == known  # HIT[medium]


token = hashlib.new("md5", data).hexdigest()  # HIT[medium]
key = hashlib.md5(url.encode()).hexdigest()  # HIT[low]
