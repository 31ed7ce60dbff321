"""The ten numbers of both examples, counted by hand from what `tools/make_example.py` adds up."""

import json

import pytest

from tests.cli.test_graders_run import aw
from tests.support import ROOT

# Requests, the router's left out:
#   the agent's n = 1..20 read 9,000 + 1,500 n, write 180 + n and last 900 + 10 n ms:
#     20 * 9,000 + 1,500 * 210 = 495,000 read (39,000 at most), 3,600 + 210 = 3,810 written, 20,100 ms;
#   the sub-agent's k = 1..7 read 2,000 + 300 k, write 60 and last 900 + 10 * (100 + k) ms:
#     14,000 + 300 * 28 = 22,400 read, 420 written, 6,300 + 10 * 728 = 13,580 ms.
# What is cached lies inside the input. The first one has 10,500 + 181 tokens.
# Calls: 20 view, 4 bash, 4 github-get_issue (each seen by the gateway, too), 1 task, 7 grep, and
# search_code, which the gateway alone saw: 37 of 6 names. The 4th view and a bash in turn 6 fail.
# In turns 6 and 7 the second bash repeats the first. The gateway writes of one retry, and one pull
# request was made.
_WORKFLOW_RUN = {
    "tool-success-rate": 35 / 37,
    "tool-failure-count": 2,
    "retries": 1,
    "loops": 2,
    "trajectory-efficiency": 6 / 37,
    "execution-step-count": 20 + 7,
    "execution-duration": 20_100 + 13_580,
    "working-set-rebuild-factor": (495_000 + 22_400) / 39_000,
    "context-growth": (495_000 + 22_400 + 3_810 + 420) / (10_500 + 181),
    "artifact-production": 1,
}

# Requests, one per message id, cached tokens beside the 4 of the input:
#   before the compaction n = 1..11 read 8,004 + 1,000 n and write 100 + 10 n:
#     88,044 + 66,000 = 154,044 read (19,004 at most), 1,100 + 660 = 1,760 written;
#   the sub-agent's k = 1..4 read 2,004 + 500 k and write 40 + k:
#     8,016 + 5,000 = 13,016 read, 160 + 10 = 170 written;
#   after the compaction i = 1..5 read 3,004 + 1,000 i and write 80 + 10 i:
#     15,020 + 15,000 = 30,020 read, 400 + 150 = 550 written.
# The first one has 9,004 + 110 tokens.
# Calls: 12 before the compaction, 3 of the sub-agent, 4 after it, of 8 names (Grep, Read, Bash, Edit,
# Task, Glob, TodoWrite, Write). The first Bash fails, and the call after it is the same again.
# Rows, 3 s apart, from the prompt to the last answer: one for each of the 23 + 7 + 10 blocks of the
# answers and of the 19 results, the prompts of the user and of the sub-agent, the reminder, and two
# of the compaction: 64 rows, 63 steps between them.
_CLAUDE_CODE = {
    "tool-success-rate": 18 / 19,
    "tool-failure-count": 1,
    "retries": None,
    "loops": 1,
    "trajectory-efficiency": 8 / 19,
    "execution-step-count": 11 + 4 + 5,
    "execution-duration": 63 * 3_000,
    "working-set-rebuild-factor": (154_044 + 13_016 + 30_020) / 19_004,
    "context-growth": (154_044 + 13_016 + 30_020 + 1_760 + 170 + 550) / (9_004 + 110),
    "artifact-production": None,
}


@pytest.mark.parametrize(
    ("name", "numbers", "said"),
    [
        ("workflow-run.jsonl", _WORKFLOW_RUN, ""),
        ("claude-code.jsonl", _CLAUDE_CODE, "aw: {file}: taken for Claude Code\n"),
    ],
)
def test_an_example_has_the_numbers_that_were_counted_by_hand(name, numbers, said):
    file = ROOT / "examples" / name

    run = aw("graders", "run", "--json", "--session", file)
    document = json.loads(run.stdout)

    assert (run.returncode, run.stderr.decode()) == (0, said.format(file=file))
    assert document["partial"] is False
    assert {result["id"]: result["value"] for result in document["results"]} == numbers


def test_the_transcript_example_has_the_kinds_of_rows_that_make_counting_hard():
    lines = (ROOT / "examples" / "claude-code.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    answers = [row["message"] for row in rows if row["type"] == "assistant"]
    ids = [message["id"] for message in answers]
    blocks = [message["content"][0] for message in answers]
    results = [
        block
        for row in rows
        if row["type"] == "user" and isinstance(row["message"]["content"], list)
        for block in row["message"]["content"]
    ]

    assert len(rows) >= 60
    assert max(map(ids.count, ids)) == 3
    assert [m["usage"]["output_tokens"] for m in answers if m["id"] == ids[0]] == [36, 73, 110]
    assert {block["type"] for block in blocks} == {"text", "thinking", "tool_use"}
    assert [result.get("is_error") for result in results].count(True) == 1
    assert sum(row.get("isSidechain") is True for row in rows) == 11
    assert sum("<system-reminder>" in str(row.get("message")) for row in rows) == 1
    assert {"summary", "file-history-snapshot", "system"} <= {row["type"] for row in rows}
    assert sum(row.get("isCompactSummary") is True for row in rows) == 1
    assert blocks[-1]["type"] == "text"
