import re

re.compile(r"^\d+(\.\d+)*$")
re.compile(r"(?:[a-z]+,)*[a-z]+$")
re.compile(r"^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}$")
re.compile(r"\s*(\w+)\s*=\s*(.*)$")
re.compile(r"(a+)+")
re.compile(r"(\w+\s)*$")
re.sub(r"(ab)+$", "", text)
