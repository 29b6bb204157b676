import csv

from flask import request


def view(file, rows):
    writer = csv.writer(file)
    writer.writerows(rows)
    writer.writerow([int(request.args["n"])])
