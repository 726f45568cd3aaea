#!/usr/bin/env bash
# work_tree.sh FOLDER: brings the work tree's files to FOLDER as they are now; those that are gone go there too, what was built there
# stays. FOLDER.files lists what was brought.
set -euo pipefail
to=$(realpath -m "${1:?"usage: work_tree.sh FOLDER"}")
cd "$(dirname "$0")/../.."
list=$to.files
mkdir -p "$to"
touch "$list"
mv "$list" "$list.before"
git ls-files --cached --others --exclude-standard | while IFS= read -r file; do
  if [ -e "$file" ]; then printf '%s\n' "$file"; fi
done | sort >"$list"
comm -23 "$list.before" "$list" | (cd "$to" && tr '\n' '\0' | xargs -0 -r rm -f --)
tar --no-recursion --owner=root --group=root -T "$list" -cf - | tar -C "$to" -xf -
