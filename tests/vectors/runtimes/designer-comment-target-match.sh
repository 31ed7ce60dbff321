#!/usr/bin/env bash
set -euo pipefail
session_file=$1
jq -s --argjson config "$GH_AW_GRADER_CONFIG" '
  def repository: type == "string" and test("\\S");
  def issue: type == "number" and . >= 1 and floor == .;
  [.[] | select(.type == "safe_output.result" and .data.type == "add_comment") | .data] as $comments
  | if (($config.repository | repository) and ($config.issueNumber | issue) | not)
       or ($comments | length == 0)
       or any($comments[];
         ((.repo | repository) and (.number | issue) and (.url | type == "string" and length > 0) | not))
    then null
    elif all($comments[]; .repo == $config.repository and .number == $config.issueNumber)
    then 1 else 0 end
  | [{id: "comment-target-match", value: .}]
' "$session_file"
