import os
import subprocess

subprocess.run(["systemctl", "stop", "auditd"])  # HIT[high]
os.system("history -c")  # HIT
os.system("pkill -9 sshd")  # HIT
open("/var/log/auth.log", "w").close()  # HIT
