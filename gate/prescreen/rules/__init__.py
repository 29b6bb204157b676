"""One AST rule per file; the folder is walked (gate/prescreen/ast_rule.py)."""
