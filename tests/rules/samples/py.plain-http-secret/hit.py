import requests


def login(user, password):
    requests.post("http://api.example/login", data={"user": user, "password": password})  # HIT[medium]
    requests.get("http://api.example/x", auth=(user, password))  # HIT
    body = {"token": password}
    requests.put(f"http://api.example/{user}", json=body)  # HIT
