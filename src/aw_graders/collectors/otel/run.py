"""What the spans of one session come to: its requests, calls and agents, each counted once."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from aw_graders import _json
from aw_graders.collectors.normalise import text_of
from aw_graders.collectors.otel.roles import Key, Role, Tree, tool_call_id_of, tool_name_of
from aw_graders.collectors.otel.spans import Span
from aw_graders.collectors.otel.usage import has_usage

_CONVERSATIONS: Final = ("gen_ai.conversation.id", "gcp.vertex.agent.session_id")
_RESPONSE_ID: Final = "gen_ai.response.id"


class Run:
    """The spans of one session and what each of them counts as."""

    def __init__(self, spans: Sequence[Span], roles: Mapping[Key, Role]) -> None:
        """Settle which spans count, in time linear in them."""
        self.roles = roles
        self.tree: Final = Tree(spans)
        self._spans = self.tree.spans
        self.agent_of: Final = self.tree.nearest(lambda key: roles.get(key) is Role.AGENT)
        self.tool_of: Final = self.tree.nearest(lambda key: roles.get(key) is Role.TOOL)
        self.models: Final = self._requests()
        self.tools: Final = self._calls()
        self.nested_in: Final = self._sub_agents()

    def of(self, role: Role) -> list[Span]:
        """List the spans that tell of one thing, whether they count or not."""
        return [span for key, span in self._spans.items() if self.roles.get(key) is role]

    def _requests(self) -> dict[Key, Span]:
        """Choose the spans of which each is one request.

        Of spans with token counts only the innermost count: one around them holds their sum, or is
        the same request seen from outside. A span without counts is a request when nothing in it
        and no counted span around it is one.
        """
        models = self.of(Role.MODEL)
        with_usage = [span.key for span in models if has_usage(span.attributes)]
        around_usage = self.tree.around(with_usage)
        around_any = self.tree.around([span.key for span in models])
        counted = {key for key in with_usage if key not in around_usage}
        within = self.tree.nearest(counted.__contains__)
        seen: set[tuple[str, bytes]] = set()
        found: dict[Key, Span] = {}
        for span in models:
            key = span.key
            if key in counted:
                twin = _identity(span)
                if twin is not None and twin in seen:
                    continue
                if twin is not None:
                    seen.add(twin)
                found[key] = span
            elif not has_usage(span.attributes) and key not in around_any and within[key] is None:
                found[key] = span
        return found

    def _calls(self) -> dict[Key, Span]:
        """Choose the spans of which each is one call.

        A call within a call of the same tool is the same one seen from within, unless both say
        that they are different ones.
        """
        return {
            span.key: span for span in self.of(Role.TOOL) if not self._is_seen_from_within(span)
        }

    def _is_seen_from_within(self, span: Span) -> bool:
        around = self.tool_of[span.key]
        if around is None or self.agent_of[span.key] != self.agent_of[around]:
            return False
        outer = self._spans[around]
        ids = {tool_call_id_of(span), tool_call_id_of(outer)} - {None}
        return tool_name_of(span) == tool_name_of(outer) and len(ids) <= 1

    def _sub_agents(self) -> dict[Key, Key]:
        """Find the agents that work for another one. One without work of its own is a wrapper."""
        working = {
            agent
            for key in (*self.models, *self.tools)
            if (agent := self.agent_of[key]) is not None
        }
        above = self.tree.nearest(working.__contains__)
        return {
            span.key: boss for span in self.of(Role.AGENT) if (boss := above[span.key]) is not None
        }

    def owner_of(self, key: Key) -> str | None:
        """Name the sub-agent whose work a span is, None for the main agent's."""
        agent = key if self.roles.get(key) is Role.AGENT else self.agent_of[key]
        return agent[1] if agent is not None and agent in self.nested_in else None

    def outermost_agents(self) -> list[Span]:
        """List the agents that stand in no other one."""
        return [span for span in self.of(Role.AGENT) if self.agent_of[span.key] is None]

    def silent_agents(self) -> list[Span]:
        """List agents with token counts in which no request is known."""
        around = self.tree.around(list(self.models))
        return [
            span
            for span in self.of(Role.AGENT)
            if has_usage(span.attributes) and span.key not in around
        ]


def _identity(span: Span) -> tuple[str, bytes] | None:
    """Tell requests apart: one answer with the same counts, seen twice, is one request."""
    response = text_of(span.attributes.get(_RESPONSE_ID))
    if response is None:
        return None
    counts = {key: value for key, value in span.attributes.items() if ".usage." in key}
    return response, _json.sorted_text(counts)


class Group(msgspec.Struct, frozen=True):
    """The traces of one session, and the conversations they name."""

    traces: set[str]
    conversations: set[str]


def sessions_of(tree: Tree, spans: Sequence[Span]) -> list[Group]:
    """Group what stands in one trace, or names one conversation, into sessions.

    A trace with several conversations holds several sessions where no span links them.

    Takes: `spans`, those that tell of an agent.
    Cost: nearly linear; the smaller of two groups moves into the larger one.
    """
    named: dict[str, set[str]] = {}
    for span in spans:
        names = named.setdefault(span.trace_id, set())
        name = conversation_of(span)
        if name is not None:
            names.add(name)
    roots = tree.roots()
    groups = _Groups()
    for span in spans:
        name = conversation_of(span)
        one = len(named[span.trace_id]) <= 1
        linked = [("trace", span.trace_id, "") if one else ("tree", *roots[span.key])]
        if name is not None:
            linked.append(("conversation", name, ""))
        groups.link(linked)
    return groups.all()


def conversation_of(span: Span) -> str | None:
    """Name the conversation that a span says it belongs to."""
    return next(
        (name for key in _CONVERSATIONS if (name := text_of(span.attributes.get(key)))), None
    )


class _Groups:
    """Things that belong together, by what links them."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, str, str], list[tuple[str, str, str]]] = {}

    def link(self, things: Sequence[tuple[str, str, str]]) -> None:
        """Put things into one group."""
        group = self._of.setdefault(things[0], [things[0]])
        for thing in things[1:]:
            other = self._of.setdefault(thing, [thing])
            if other is group:
                continue
            small, group = (other, group) if len(other) <= len(group) else (group, other)
            group.extend(small)
            self._of.update(dict.fromkeys(small, group))

    def all(self) -> list[Group]:
        """List the groups in the order met."""
        distinct = {id(group): group for group in self._of.values()}
        return [
            Group(
                {name for kind, name, _ in group if kind != "conversation"},
                {name for kind, name, _ in group if kind == "conversation"},
            )
            for group in distinct.values()
        ]
