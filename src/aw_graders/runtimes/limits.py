"""What custom code may use. Bounds count the script, not the evidence."""

from typing import Final

# Graders Specification 0.5.0, section 3: 256 KiB of UTF-8, inclusive.
MAX_SCRIPT_BYTES: Final = 262_144
# Section 5: 64 KiB of UTF-8, inclusive.
MAX_EVALUATOR_BYTES: Final = 65_536
# Section 5 leaves the numbers of JavaScript open; decision 31 sets them.
SCRIPT_SECONDS: Final = 5.0
SCRIPT_MEMORY_BYTES: Final = 256 << 20
LOAD_SECONDS: Final = 120.0
MAX_OUTPUT_BYTES: Final = 1 << 20
# One text of the engine has at most 2^29 - 24 characters; 100 MB have to work.
MAX_CUSTOM_SESSION_BYTES: Final = 256 << 20
# Section 5: 120 seconds and 1 MiB.
EVALUATOR_SECONDS: Final = 120.0
# Section 5 wants execution bounded: no evaluator needs more, and a fork bomb does at once.
MAX_EVALUATOR_PROCESSES: Final = 256
MAX_EVALUATOR_MEMORY_BYTES: Final = 2 << 30
