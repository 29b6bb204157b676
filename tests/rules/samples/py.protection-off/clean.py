import os
import subprocess

subprocess.run(["systemctl", "restart", "nginx"])
os.system("clear")
open("/var/log/auth.log").read()
open("/var/log/app.log", "w").close()
