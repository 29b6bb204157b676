import ast
import json
import re


def evaluate(text):
    return ast.literal_eval(text)


model.eval()
frame.eval("a + b")
json.loads(text)
pattern = re.compile("x")
cursor.exec("SELECT 1")


def eval(x):
    return x


eval(text)
