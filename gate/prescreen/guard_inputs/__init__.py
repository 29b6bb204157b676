"""What unchanged guards depend on: changed functions, types and operators that their conditions read."""
