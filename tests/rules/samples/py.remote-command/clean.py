import shlex

import paramiko

client = paramiko.SSHClient()
client.exec_command("uptime")


def show(folder):
    client.exec_command("ls " + shlex.quote(folder))
