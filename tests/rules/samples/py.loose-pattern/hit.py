import re

re.compile("(www|beta).example.com/")  # HIT[medium]
re.match(r"[a-z]+.[a-z]+.[a-z]+", text)  # HIT
re.match(r"\d+.\d+.\d+", version)  # HIT
