"""What the messages of requests say of prompts and tool calls, beyond what spans say."""

from collections import Counter, deque
from collections.abc import Mapping, Sequence

from aw_graders._json import JsonValue
from aw_graders.collectors.otel.messages import Asked, Said
from aw_graders.collectors.otel.roles import Key, tool_call_id_of, tool_name_of
from aw_graders.collectors.otel.spans import Span

_USER = "user"


class Spoken:
    """What the requests' messages say, each thing once.

    `arguments` are those of calls whose span may hold none. `starts` are calls without any span, by
    the request that asked for them, `answers` what a later request was given for them. `untold`
    lists, for calls of which no message could tell more, the request that asked. `prompts` are
    texts of the user that an earlier request did not hold.
    """

    def __init__(
        self, tools: Mapping[Key, Span], models: Sequence[Span], said: Mapping[Key, Said]
    ) -> None:
        """Walk the requests in the order of their times, in time linear in their messages."""
        self.arguments: dict[Key, JsonValue] = {}
        self.starts: dict[Key, list[Asked]] = {}
        self.answers: dict[Key, list[tuple[str, JsonValue]]] = {}
        self.untold: list[Span] = []
        self.prompts: dict[Key, list[str]] = {}
        self._by_id: dict[str, Key] = {}
        self._by_name: dict[str, deque[Key]] = {}
        for key, span in tools.items():
            call_id, name = tool_call_id_of(span), tool_name_of(span)
            if call_id is not None:
                self._by_id[call_id] = key
            elif name is not None:
                self._by_name.setdefault(name, deque()).append(key)
        self._hears = any(item.given is not None for item in said.values())
        self._open: set[str] = set()
        self._known: set[str] = set()
        self._texts: Counter[str] = Counter()
        for span in models:
            self._request(span, said[span.key])

    def _request(self, span: Span, said: Said) -> None:
        now: Counter[str] = Counter()
        for message in said.given or ():
            for text in message.texts if message.role == _USER else ():
                now[text] += 1
                if now[text] > self._texts[text]:
                    self._texts[text] = now[text]
                    self.prompts.setdefault(span.key, []).append(text)
            for answer in message.answered:
                if answer.call_id in self._open:
                    self._open.discard(answer.call_id)
                    self.answers.setdefault(span.key, []).append((answer.call_id, answer.output))
        for message in said.returned or ():
            for call in message.asked:
                self._call(span, call)

    def _call(self, span: Span, call: Asked) -> None:
        if call.call_id is not None and call.call_id in self._by_id:
            self.arguments.setdefault(self._by_id[call.call_id], call.arguments)
            return
        unnamed = self._by_name.get(call.name or "")
        if call.call_id in self._known:
            return
        if call.call_id is not None:
            self._known.add(call.call_id)
        if unnamed:
            self.arguments[unnamed.popleft()] = call.arguments
        elif call.call_id is None or not self._hears:
            self.untold.append(span)
        else:
            self._open.add(call.call_id)
            self.starts.setdefault(span.key, []).append(call)
