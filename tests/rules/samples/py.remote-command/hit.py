import paramiko
from flask import request

client = paramiko.SSHClient()


def view():
    client.exec_command(request.args.get("command"))  # HIT[high]


def show(folder):
    client.exec_command("ls " + folder)  # HIT[low]
