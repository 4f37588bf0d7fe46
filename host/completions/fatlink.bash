# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Bash completion for fatlink; requires only bash 4.4 or newer. bash-completion finds this file by its
# name; it can also be sourced.

# Functions return results in the variables of _fatlink that their comments name, because a subshell
# for each key press would be slow.

# words: the command line up to the cursor; --mode=lto and cpu:sm_80, which readline splits, are one
# word each.
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

# verb: the command, with the subcommand of cache; empty if none is complete.
_fatlink_verb() {
  verb=
  ((${#words[@]} > 2)) && verb=${words[1]}
  [[ $verb == cache ]] && ((${#words[@]} > 3)) && verb+=" ${words[2]}"
}

# options: the options of the command.
_fatlink_options() {
  local common='--allow-unconfined --link-timeout --require-inlined'
  local sources='--contract --header -I --include-folder -D --define --std --compile-timeout'
  local forms='--allow-calls --whole-archive'
  local floats='--ftz --prec-div --prec-sqrt --fma --use-fast-math'
  local compiling='--keep-variable --drop-unused-variables --max-registers -O --optimize --fast-compile --line-info
    --debug --stack-protector --latest-nvvm --threads --no-driver-cache --ptxas --nvvm'
  common+=" $forms $compiling $floats $sources"
  local linking="--in-process --no-cache $common"
  options='-h --help --json'
  case $verb in
    '') options='-h --help --version' ;;
    run) options+=" --library --transform --watch --kernel --mode --device --instruction-budget --check-races
           --check-uninitialized --deterministic --elements --input --output --set --state --expect --compare-cpu --seed --print --resources $linking" ;;
    link) options+=" --target --mode --emit --kernel -o --output --resources $linking" ;;
    check) options+=" --target --mode --kernel --nvjitlink $forms $floats $sources" ;;
    inspect) options+=" --expect --expect-ident --expect-hook --expect-reference --expect-plan --ptx --target $sources" ;;
    compile) options+=" -o --output $sources --arch --sass $floats --line-info --timeout --memory-limit --no-cache --allow-unconfined --timing" ;;
    pack) options+=" -o --output --package $sources" ;;
    list) options+=' --kind --names' ;;
    cache) options='-h --help' ;;
    'cache warm') options+=" --target --mode --kernel --emit --layer --one-copy $linking" ;;
    bench) options+=" --elements --library --transform --mode --kernel --set --only --repeat --resources $common" ;;
  esac
}

# found: adds the words of "$1" that start with the current word.
_fatlink_offer() {
  local word
  for word in $1; do
    [[ $word == "$current"* ]] && found+=("$word")
  done
}

# found: adds files that match one of the patterns, and folders. Readline quotes them.
_fatlink_files() {
  local path pattern plain=${current//\\/}
  plain=${plain#[\"\']}
  compopt -o filenames 2>/dev/null
  while IFS= read -r path; do
    found+=("$path")
  done < <(for pattern; do compgen -f -X "!$pattern" -- "$plain"; done; compgen -d -- "$plain")
}

# found: adds files with the endings of inputs, and folders.
_fatlink_inputs() {
  _fatlink_files '*.fatbin' '*.ptx' '*.ltoir' '*.cubin' '*.o' '*.a' '*.so' '*.cu' '*.ll' '*.bc'
}

# found: adds the names of installed fatbins of the kind "$1" or of both, from the program on the
# command line.
_fatlink_names() {
  local program=${words[0]/#~\//$HOME/} kind=()
  [[ -n ${1-} ]] && kind=(--kind "$1")
  _fatlink_offer "$("$program" list "${kind[@]}" --names 2>/dev/null)"
}

# found: the installed contracts.
_fatlink_contracts() {
  local program=${words[0]/#~\//$HOME/}
  _fatlink_offer "$("$program" list --contracts 2>/dev/null)"
}

# targets: those that the program knows.
_fatlink_targets() {
  local program=${words[0]/#~\//$HOME/}
  targets=$("$program" list --targets 2>/dev/null) || true
}

# found: the values of the option "$1"; fails if it takes no value.
_fatlink_values() {
  local targets
  case "$verb $1" in
    'run --library' | 'bench --library') _fatlink_names library; _fatlink_inputs ;;
    'run --transform' | 'run --watch' | 'bench --transform') _fatlink_names transform; _fatlink_inputs ;;
    'run --input' | 'run --output' | 'run --expect') _fatlink_files '*.npy' ;;
    'run --state') _fatlink_files '*' ;;
    'link -o' | 'link --output') _fatlink_files '*' ;;
    'compile -o' | 'compile --output' | 'pack -o' | 'pack --output') _fatlink_files '*.fatbin' ;;
    *' --contract') _fatlink_contracts ;;
    *' --header') _fatlink_files '*.cuh' '*.h' '*.hpp' ;;
    *' -I' | *' --include-folder') _fatlink_files '' ;;
    'compile --arch' | 'compile --sass')
      _fatlink_targets
      _fatlink_list "$targets" ;;
    *' --std') _fatlink_offer 'c++03 c++11 c++14 c++17 c++20' ;;
    'cache warm --layer') _fatlink_files '' ;;
    'link --mode') _fatlink_offer 'ptx lto sass' ;;
    *' --mode') _fatlink_offer 'ptx lto both sass' ;;
    *' -O' | *' --optimize') _fatlink_offer '0 3' ;;
    *' --fast-compile') _fatlink_offer 'min mid max' ;;
    *' --ftz' | *' --prec-div' | *' --prec-sqrt' | *' --fma') _fatlink_offer '0 1' ;;
    'run --device')
      _fatlink_offer 'gpu cpu all'
      [[ $current == cpu:* ]] && _fatlink_targets && _fatlink_offer "${targets//sm_/cpu:sm_}" ;;
    'link --emit') _fatlink_offer 'cubin ptx ltoir relocatable' ;;
    'cache warm --emit') _fatlink_list 'cubin ptx' ;;
    'bench --only') _fatlink_list 'kernels links first-launch starts preflight reference-device' ;;
    'link --target' | 'check --target' | 'inspect --target' | 'cache warm --target')
      _fatlink_targets
      _fatlink_list "$targets native all" ;;
    'inspect --expect-reference' | 'inspect --expect-plan') _fatlink_files '*.json' ;;
    'inspect --expect')
      _fatlink_targets
      _fatlink_offer "${targets//sm_/ptx:sm_} ${targets//sm_/ltoir:sm_} ${targets//sm_/elf:sm_}" ;;
    'list --kind') _fatlink_offer 'library transform' ;;
    *' --kernel' | *' --instruction-budget' | *' --elements' | *' --seed' | *' --print' | *' --set' | *' --link-timeout' | \
      *' --nvjitlink' | *' --repeat' | *' --expect-ident' | *' --package' | \
      *' --keep-variable' | *' --max-registers' | *' --threads' | *' --ptxas' | *' --nvvm' | \
      *' -D' | *' --define' | *' --timeout' | *' --compile-timeout' | *' --memory-limit') ;;
    *) return 1 ;;
  esac
}

# found: adds the words of "$1" that a comma-separated list lacks, for its last item.
_fatlink_list() {
  local before='' word
  [[ $current == *,* ]] && before=${current%,*},
  for word in $1; do
    [[ ,$before != *,"$word",* ]] && _fatlink_offer "$before$word"
  done
}

# found: commands, or the arguments of the command.
_fatlink_arguments() {
  case $verb in
    '') _fatlink_offer 'run link check inspect compile pack digest list cache doctor bench' ;;
    cache) _fatlink_offer 'path stats warm verify prune clear' ;;
    link | check | inspect | pack | 'cache warm') _fatlink_names; _fatlink_inputs ;;
    compile) _fatlink_files '*.cu' '*.ll' '*.bc' ;;
    digest) _fatlink_files '*.fatbin' ;;
    list) _fatlink_names ;;
  esac
}

_fatlink() {
  local IFS=$' \t\n' words=() verb options current found=() before='' typed
  _fatlink_words
  _fatlink_verb
  current=${words[-1]}
  typed=$current
  if [[ $current == --*=* ]]; then
    before=${current%%=*}=
    current=${current#*=}
    _fatlink_values "${before%=}"
  elif ! _fatlink_values "${words[-2]}"; then
    if [[ $current == -* ]]; then
      _fatlink_options
      _fatlink_offer "$options"
    else
      _fatlink_arguments
    fi
  fi
  # Readline replaces only the text after the last character at which it breaks words.
  local last=${COMP_WORDS[COMP_CWORD]}
  [[ $last == [:=]* ]] && last=
  found=("${found[@]/#/"$before"}")
  COMPREPLY=("${found[@]#"${typed%"$last"}"}")
}

complete -F _fatlink fatlink
