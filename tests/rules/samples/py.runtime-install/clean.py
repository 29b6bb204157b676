import subprocess

subprocess.run(["pip", "list"])
subprocess.run(["make", "install"])
