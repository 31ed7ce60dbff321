"""Every limit of reading a run's folder, once, with its unit. Each has a note when it is hit."""

from typing import Final

# Folders below the root that are looked into; a sub-agent's firewall log lies six deep.
MAX_DEPTH: Final = 8
# Files and folders that are listed. A run's artifacts hold a few hundred.
MAX_ENTRIES: Final = 100_000
# All bytes that are read of one run.
MAX_TOTAL_BYTES: Final = 4 * 1024 * 1024 * 1024
# One JSON document, which is held whole while it is decoded.
MAX_DOCUMENT_BYTES: Final = 32 * 1024 * 1024
# One prompt, which becomes one event. Escaped as JSON it has at most six times as many bytes.
MAX_PROMPT_BYTES: Final = 4 * 1024 * 1024
# An exit code in a file of its own.
MAX_EXIT_CODE_BYTES: Final = 64
# What an event has besides its data: type, path, times.
MAX_ENVELOPE_BYTES: Final = 64 * 1024
# How many links, or folders that lie too deep, are named one by one.
MAX_NAMED: Final = 20
