"""What a language model answers, or gives a tool, is run."""

import json

from anthropic import Anthropic
from mcp.server.fastmcp import FastMCP
from openai import OpenAI

client = OpenAI()
mcp = FastMCP("numbers")


def solve(question):
    answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": question}])
    return eval(answer.choices[0].message.content)  # HIT[high]


def act(question):
    answer = Anthropic().messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": question}])
    arguments = json.loads(answer.content[0].text)
    exec(arguments["code"])  # HIT[high]


@mcp.tool()
def calculate(expression: str) -> float:
    """Offered to a language model."""
    return eval(expression)  # HIT[high]
