# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Bash completion for fatlink; requires only bash 4.4 or newer. bash-completion finds this file by its name; it can also
# be sourced. The program on the command line says what to offer: host/cli/complete.cpp describes its answer.

# words: the command line up to the cursor; --mode=lto and cpu:sm_80, which readline splits, are one word each.
_fatlink_words() {
  local i token glue=no
  words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    token=${COMP_WORDS[i]}
    if ((i > 1)) && [[ $glue == yes || $token == [:=]* ]]; then
      words[-1]+=$token
    else
      words+=("$token")
    fi
    [[ $token == [:=]* ]] && glue=yes || glue=no
  done
}

# found: adds folders, and with "files" the files with one of the endings "$3"…, for the current word without its first
# "$2" characters. Readline quotes them.
_fatlink_files() {
  local kind=$1 before=${current:0:$2} path ending plain=${current:$2}
  plain=${plain//\\/}
  plain=${plain#[\"\']}
  shift 2
  compopt -o filenames 2>/dev/null
  while IFS= read -r path; do
    found+=("$before$path")
  done < <(
    [[ $kind == files ]] && for ending in "${@:-}"; do compgen -f -X "!*$ending" -- "$plain"; done
    compgen -d -- "$plain"
  )
}

_fatlink() {
  local IFS=$' \t\n' words=() current program line found=() files
  _fatlink_words
  current=${words[-1]}
  program=${words[0]/#~\//$HOME/}
  while IFS= read -r line; do
    if [[ $line == $'\t'* ]]; then
      read -ra files <<<"$line"
      _fatlink_files "${files[@]}"
    else
      found+=("${line%%$'\t'*}")
    fi
  done < <("$program" --complete "${words[@]:1}" 2>/dev/null)
  # Readline replaces only the text after the last character at which it breaks words.
  local last=${COMP_WORDS[COMP_CWORD]}
  [[ $last == [:=]* ]] && last=
  COMPREPLY=("${found[@]#"${current%"$last"}"}")
}

complete -F _fatlink fatlink
