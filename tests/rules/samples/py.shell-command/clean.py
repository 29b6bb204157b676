import os
import shlex
import subprocess

subprocess.run(["git", "rev-parse", "HEAD"], check=True)
os.system("clear")
FLAGS = "-l"
subprocess.run("ls " + FLAGS, shell=True)


def show(path):
    subprocess.run(["ls", path])
    subprocess.run(f"ls {shlex.quote(path)} | wc -l", shell=True)
