"""One AST rule per file; the folder is walked (gate/prescreen/python_ast/rule.py)."""
