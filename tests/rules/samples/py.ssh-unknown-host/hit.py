import paramiko
from paramiko import SSHClient

client = SSHClient()
client.set_missing_host_key_policy(paramiko.AutoAddPolicy())  # HIT[medium]
client.set_missing_host_key_policy(paramiko.WarningPolicy)  # HIT
