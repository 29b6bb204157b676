import requests


def login(user, password):
    requests.post("https://api.example/login", data={"user": user, "password": password})
    requests.post("http://localhost:8000/login", data={"password": password})
    requests.get("http://api.example/news", params={"page": 1})
    requests.get("http://api.example/news", auth=None)
