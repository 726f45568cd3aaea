# SPDX-License-Identifier: Apache-2.0
# Completes dtsubmit's command lines in bash, and in zsh after `autoload -U bashcompinit && bashcompinit`.
# dtsubmit itself knows the words; where it offers none, the shell completes names of files.
_dtsubmit() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:$COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _dtsubmit dtsubmit
