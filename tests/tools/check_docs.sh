#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_docs.sh ROOT: fails where --help and the manual page of a verb name different options, where a
# page of the SEE ALSO lists is missing, and where mandoc or groff warn. The programs come as $DTSUBMIT
# and $DTTRAIN. Exit 77: not built, skipped.
set -eu
cd "$1"
if [ ! -x "${DTSUBMIT:-}" ] || [ ! -x "${DTTRAIN:-}" ]; then
  echo "skipped: DTSUBMIT and DTTRAIN must name the built programs"
  exit 77
fi
wrong=0

complain() {
  echo "$*"
  wrong=1
}

# Options at the start of a line of --help: "  -N,--nodes N   text" gives -N and --nodes.
options_of_help() {
  sed -n 's/^  \(-[^ ]*\).*/\1/p' | tr ',' '\n' | sed 's/=.*//' | grep -E '^-' | grep -vxE -- '-h|--help' | sort -u
}

# Options in the tags of a page's lists, in man(7) (.TP, then the tag) or mdoc(7) (.It Fl -name).
options_of_page() {
  sed -n -e '/^\.TP/{n;p;}' -e '/^\.TQ/{n;p;}' -e 's/^\.It \(Fl .*\)/\1/p' "$1" |
    sed -e 's/\\-/-/g' -e 's/Fl -/--/g' -e 's/\\fR//g' |
    grep -oE -- '(^|[ "])--?[A-Za-z][A-Za-z-]*' | tr -d ' "' | grep -vxE -- '-h|--help' | sort -u
}

# compare PAGE COMMAND...: the page against the help of that command, or of several (cluster up, down).
compare() {
  page=man/$1
  shift
  [ -e "$page" ] || {
    complain "$page: missing"
    return
  }
  told=$(options_of_page "$page")
  helped=$(for command in "$@"; do
    case $command in
      *' submit' | *' run') $command --help-all ;; # --help is one screen
      *) $command --help ;;
    esac
  done | options_of_help)
  for option in $helped; do
    echo "$told" | grep -qxF -- "$option" || complain "$page: $option of \`$1 --help\` is not there"
  done
  for option in $told; do
    echo "$helped" | grep -qxF -- "$option" || complain "$page: $option is not in \`$1 --help\`"
  done
}

for verb in submit run list status why logs stop cancel requeue topo nodes check drill lint doctor plan simulate beat; do
  compare dtsubmit-$verb.1 "$DTSUBMIT $verb"
done
compare dtsubmit-cluster.1 "$DTSUBMIT cluster up" "$DTSUBMIT cluster down" "$DTSUBMIT cluster status"
compare dtsubmit.1 "$DTSUBMIT"
compare dttrain.1 "$DTTRAIN" "$DTTRAIN bench" "$DTTRAIN export"

# Every verb has a page, and every page of ours that a page refers to is there.
for verb in $("$DTSUBMIT" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
  [ -e "man/dtsubmit-$verb.1" ] || complain "man/dtsubmit-$verb.1: missing"
done
for reference in $(grep -hoE 'dt(submit|train)[a-z\\-]* \([1-8]\)' man/* | sed -e 's/\\-/-/g' -e 's/ (/./' -e 's/)//' | sort -u); do
  [ -e "man/$reference" ] || complain "man/$reference: referred to, but missing"
done

for page in man/*.[1-8]; do
  if command -v mandoc >/dev/null; then
    # Pages of other packages need not be installed here, and a page may go without a date.
    warnings=$(mandoc -Tlint -Wwarning "$page" 2>&1 | grep -v -e 'referenced manual not found' -e 'missing date' || true)
    [ -z "$warnings" ] || complain "$warnings"
  fi
  if command -v groff >/dev/null; then
    warnings=$(groff -t -man -Tutf8 -ww -z "$page" 2>&1 || true)
    case $page in *cluster*) warnings= ;; esac # mdoc(7)
    [ -z "$warnings" ] || complain "$page: $warnings"
  fi
done
exit $wrong
