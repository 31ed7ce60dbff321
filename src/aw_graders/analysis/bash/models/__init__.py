"""How each known command treats its arguments: one table per kind of command."""
