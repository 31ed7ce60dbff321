"""Text and arguments as OpenHands keeps them."""

from aw_graders.collectors.normalise import is_list, mapping_of


def text_in(content: object) -> str:
    """Read text, or the text of parts; anything else has none."""
    single = mapping_of(content)
    if single is not None:
        content = single.get("text")
    if isinstance(content, str):
        return content
    if not is_list(content):
        return ""
    parts = [mapping_of(item) or {} for item in content]
    return "\n".join(text for part in parts if isinstance(text := part.get("text"), str))


def id_of(value: object) -> str | None:
    """Return an event's id as text; the first generation counts its events from 0."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if value >= 0 else None
    return value if isinstance(value, str) and value else None
