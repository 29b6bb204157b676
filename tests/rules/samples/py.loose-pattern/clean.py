import re

re.compile(r"(www|beta)\.example\.com/")
re.match(r"[a-z]+\.[a-z]+", text)
re.match(r".*\.com", text)
re.sub("example.com", "x", text)
re.match(r"^\d+\.\d+$", version)
re.match(r"a.b", text)
