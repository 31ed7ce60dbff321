"""The texts that traps run: each is a script of its own."""

from typing import Final

from aw_graders.analysis.bash.doubts import find_doubts
from aw_graders.analysis.bash.facts import ANYWHERE, Facts, gather
from aw_graders.analysis.bash.parser import SyntaxFaultError, TooComplexError, parse
from aw_graders.analysis.bash.tree import Node, UnknownSyntaxError

_MAX_HANDLERS: Final = 50


def read_handlers(facts: Facts) -> dict[str, Node]:
    """Parse every handler that the facts name, also those within other handlers.

    Returns: the trees by their texts; a text that is not there cannot be judged.
    Raises: ParserMissingError.
    Cost: one child process for each different text, at most fifty.
    """
    trees: dict[str, Node] = {}
    refused: set[str] = set()
    while waiting := facts.handlers - trees.keys() - refused:
        for text in sorted(waiting):
            if len(trees) + len(refused) >= _MAX_HANDLERS:
                return trees
            source = text.encode("utf-8", "replace")
            if any(find_doubts(source)):
                refused.add(text)
                continue
            try:
                trees[text] = parse(source)
            except (SyntaxFaultError, TooComplexError, UnknownSyntaxError):
                refused.add(text)
            else:
                gather(trees[text], ANYWHERE, facts)
    return trees
