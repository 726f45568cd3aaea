# SPDX-License-Identifier: Apache-2.0
# sources ROOT PATTERN...: the paths below ROOT that git tracks (without git: all but build/) and that match.
sources() {
  (
    cd "$1" || exit 1
    shift
    if [ -e .git ]; then
      git ls-files -- "$@" | while read -r file; do [ -e "$file" ] && echo "$file"; done
    else
      for pattern in "$@"; do find . -path ./build -prune -o -name "$pattern" -type f -print; done | sed 's|^\./||'
    fi
  )
}
