"""Every limit of reading a session, once, with its unit."""

from typing import Final

# One event. Real tool outputs of 16 MiB on a line are read; a longer line is refused by name.
MAX_LINE_BYTES: Final = 32 * 1024 * 1024
# One JSON array, which has to be held whole while it is decoded.
MAX_ARRAY_BYTES: Final = 512 * 1024 * 1024
# A recording of another tool, held whole while its collector reads it.
MAX_RECORDING_BYTES: Final = 512 * 1024 * 1024
# Standard input, which cannot be read twice and is held whole.
MAX_STDIN_BYTES: Final = 2 * 1024 * 1024 * 1024
# A unified session in JSON Lines of this size is not held whole any more.
STREAM_FROM_BYTES: Final = 4 * 1024 * 1024
# A configuration file.
MAX_CONFIG_BYTES: Final = 1024 * 1024
# Unified session format, section 1.2: the largest integer every JSON reader holds exactly.
MAX_SAFE_INTEGER: Final = 2**53 - 1
# How many problems of one kind are named one by one before the rest is only counted.
MAX_SHOWN_PROBLEMS: Final = 5
# Event times, in milliseconds since 1970: earlier than the year 2000 is untimed.
EARLIEST_TIME_MS: Final = 946_684_800_000
# Event times: later than the newest collection stamp by more than a day is untimed.
LATEST_AFTER_COLLECTION_MS: Final = 86_400_000
# ECMAScript's largest time value, in milliseconds either side of 1970.
MAX_TIME_MS: Final = 8.64e15
