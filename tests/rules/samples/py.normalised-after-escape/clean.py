import unicodedata

from markupsafe import escape


def show(text):
    text = unicodedata.normalize("NFKC", text)
    return escape(text)
