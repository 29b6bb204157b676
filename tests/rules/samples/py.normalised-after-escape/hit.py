import unicodedata

from markupsafe import escape


def show(text):
    text = escape(text)
    return unicodedata.normalize("NFKC", text)  # HIT[medium]
