import hashlib

hashlib.sha256(password).hexdigest()
hashlib.md5(token, usedforsecurity=False)
hashlib.new("sha512", data)
