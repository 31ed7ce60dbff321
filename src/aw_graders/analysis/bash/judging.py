"""Judges a script that was parsed."""

from aw_graders.analysis.bash.commands import judge
from aw_graders.analysis.bash.context import Context, Where
from aw_graders.analysis.bash.descriptors import permitted_files
from aw_graders.analysis.bash.facts import TOP, Facts, gather
from aw_graders.analysis.bash.handlers import read_handlers
from aw_graders.analysis.bash.report import Reporter
from aw_graders.analysis.bash.tree import Node
from aw_graders.analysis.bash.values import Values
from aw_graders.analysis.bash.walk import Walker


def judge_script(root: Node, source: bytes, reporter: Reporter) -> None:
    """Report what a script writes or hides.

    Takes: its tree, the bytes that the tree is about, and who collects the findings.
    Raises: ParserMissingError.
    Cost: O(length), and one child process for each different text of a trap.
    """
    facts = Facts()
    gather(root, TOP, facts)
    handlers = read_handlers(facts)

    def walk_handler(text: str, tree: Node, where: Where) -> None:
        Walker(context, text.encode()).walk(tree, where)

    context = Context(
        reporter, facts, Values(facts), handlers, permitted_files(facts), judge, walk_handler
    )
    Walker(context, source).walk(root, Where(TOP))
