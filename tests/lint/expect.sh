# SPDX-License-Identifier: Apache-2.0
# Sourced by the self-tests of checks, which name theirs: check=check_layers.sh.
check=$(cd "$(dirname "$0")/../tools" && pwd)/$check
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

# expect pass|fail FILE LINE: what the check makes of a tree with FILE alone, whose second line is LINE. A failure must
# name both.
expect() {
  rm -rf "${tree:?}"/*
  mkdir -p "$tree/$(dirname "$2")"
  printf '// SPDX\n%s\n' "$3" >"$tree/$2"
  if output=$("$check" "$tree" 2>&1); then got=pass; else got=fail; fi
  if [ "$got" != "$1" ]; then
    echo "$2 with $3: expected $1, got $got: $output"
    failures=$((failures + 1))
  elif [ "$got" = fail ] && ! echo "$output" | grep -q "^$2:2: "; then
    echo "$2 with $3: the report does not name file and line: $output"
    failures=$((failures + 1))
  fi
}
