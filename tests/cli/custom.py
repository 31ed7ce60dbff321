"""A repository with custom graders, and what its conclusion publishes, for tests of commands."""

import json
from pathlib import Path

from aw_graders.config.executable import ExecutableManifest
from aw_graders.config.frozen import frozen_document
from aw_graders.config.manifest import manifest_document
from aw_graders.flows.workflow_graders import read_graders
from tests.cli.test_graders_run import aw
from tests.support import ROOT, lines_of

SESSION = ROOT / "examples" / "workflow-run.jsonl"
SCRIPT = """\
const {stats} = helpers.createSessionLookups(session);
if (!stats.requests) return {value: null, message: "no request was recorded"};
return {value: stats.toolCalls / stats.requests, diagnostics: {calls: stats.toolCalls}};
"""
EVALUATOR = """\
#!/usr/bin/env bash
count=0
while IFS= read -r _; do count=$((count + 1)); done < "$1"
printf '[{"id":"events","value":%s},{"id":"other","value":null}]' "$count"
"""
THROWS = "const nothing = null;\nreturn nothing.length;\n"
_META = "    description: d\n    unit: ratio\n    direction: lower_is_better\n"


def entry(id_: str, script: str, more: str = "") -> str:
    """Spell a grader with a script, as it stands under `graders:`."""
    body = "".join(f"      {line}\n" for line in script.splitlines())
    return f"  {id_}:\n{_META}{more}    script: |\n{body}"


def repository(folder: Path, graders: str, evaluator: str | None = EVALUATOR) -> Path:
    """Make a repository with one workflow, and return the workflow."""
    (folder / ".git").mkdir(parents=True)
    workflows = folder / ".github" / "workflows"
    workflows.mkdir(parents=True)
    if evaluator is not None:
        (workflows / "value.sh").write_text(evaluator, encoding="utf-8")
        graders += f"  operational-value:\n    run: ./value.sh\n{_META}"
    file = workflows / "demo.md"
    file.write_text(f"---\non: push\ngraders:\n{graders}---\nBody\n", encoding="utf-8")
    return file


def frozen(workflow: Path, to: Path) -> Path:
    """Write the frozen graders of a workflow, as a compiler does."""
    custom = read_graders(workflow).custom
    manifest = ExecutableManifest(tuple(item.grader for item in custom))
    to.write_text(json.dumps(frozen_document(manifest)), encoding="utf-8")
    return to


def _stream():
    """Spell a run of two calls and one request."""
    used = {"input_tokens": 10, "output_tokens": 2}
    calls = [
        {"type": "tool_use", "id": id_, "name": "Bash", "input": {"command": id_}}
        for id_ in ("c1", "c2")
    ]
    message = {"id": "m1", "role": "assistant", "model": "m", "content": calls, "usage": used}
    results = [
        {"type": "tool_result", "tool_use_id": call["id"], "content": "done"} for call in calls
    ]
    yield {"type": "system", "subtype": "init", "session_id": "s", "model": "m", "tools": []}
    yield {"type": "assistant", "session_id": "s", "message": message}
    yield {"type": "user", "session_id": "s", "message": {"role": "user", "content": results}}
    yield {
        "type": "result",
        "subtype": "success",
        "session_id": "s",
        "duration_ms": 5,
        "usage": used,
    }


def published(workflow: Path, root: Path) -> Path:
    """Run conclusion over a run with the example's session, and return its `usage` folder."""
    read = read_graders(workflow)
    registered = [item.grader.registered() for item in read.custom]
    manifest = root.parent / "conclusion.json"
    manifest.write_text(json.dumps(manifest_document(read.settings, registered)), "utf-8")
    (root / "agent").mkdir(parents=True)
    (root / "agent" / "agent-stdio.log").write_bytes(lines_of(_stream()))
    run = aw("conclude", "--root", root, "--manifest", manifest)
    assert run.returncode == 0, run.stderr
    return root / "usage"
