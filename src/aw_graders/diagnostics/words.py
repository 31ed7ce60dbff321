"""Numbers in sentences."""


def counted(count: int, noun: str) -> str:
    """Spell a count with its noun: "1 lone surrogate", "2 lone surrogates"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
