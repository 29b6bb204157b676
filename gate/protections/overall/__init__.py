"""What is compared over the whole change, because it may move from one function or file to another."""
