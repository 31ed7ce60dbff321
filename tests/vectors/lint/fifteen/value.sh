#!/usr/bin/env bash
set -euo pipefail
jq -r '.type' "$1" > types.txt
printf '[{"id":"fits","value":1}]\n'
