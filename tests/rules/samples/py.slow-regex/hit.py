import re

re.compile(r"^(a+)+$")  # HIT[medium]
re.match(r"(\w*)*x", text)  # HIT
re.search(r"^([a-zA-Z0-9]+\s?)*$", text)  # HIT
EMAIL = r"^[\w.+-]+@[a-z0-9.-]+\.[a-z]{2,}(?:\.[a-z]{2,})*$"
re.match(EMAIL, text)  # HIT
