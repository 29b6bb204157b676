import csv

from flask import request


def view(file):
    data = request.args.get("data", "").split(",")
    csv.writer(file).writerow(data)  # HIT[medium]
