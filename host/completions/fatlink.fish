# SPDX-License-Identifier: Apache-2.0
# Fish completion for fatlink. One option a line, after the verbs that have it.

# Whether the command line is at one of these: a verb, cache/VERB, or top where none is given yet.
function __fatlink_at
    set -l words (commandline -opc)
    set -l verb $words[2]
    set -q words[2]; or set verb top
    test "$verb" = cache; and set -q words[3]; and set verb cache/$words[3]
    contains -- $verb $argv
end

# What is installed; the program that is about to be run is asked.
function __fatlink_names
    set -l program (string replace -r '^~/' $HOME/ -- (commandline -opc)[1])
    type -q $program; and $program list $argv --names 2>/dev/null
end

# The targets that the program knows, each with the prefixes given.
function __fatlink_targets
    set -l program (string replace -r '^~/' $HOME/ -- (commandline -opc)[1])
    set -l targets (type -q $program; and $program list --targets 2>/dev/null)
    for target in $argv$targets
        echo $target
    end
end

# Files that end so, and folders.
function __fatlink_files
    __fish_complete_suffix $argv[1] | string match -re '(?:'(string escape --style=regex -- $argv[1])'|/)(?:\t.*)?$'
end

# A list with commas: what is before the last one, and each word that it does not hold yet.
function __fatlink_list
    set -l before (string replace -rf '^(--[a-z]+=)?(.*,)?.*$' '$2' -- (commandline -ct))
    for word in $argv
        contains -- $word (string split , -- "$before"); or echo $before$word
    end
end

complete -c fatlink -f
complete -c fatlink -s h -l help -d 'Describe the verb'
complete -c fatlink -n '__fatlink_at top' -l version -d 'Print the version'
complete -c fatlink -n '__fatlink_at top' -a run -d 'Link in both modes, execute, verify'
complete -c fatlink -n '__fatlink_at top' -a link -d 'Link fatbins and write the image'
complete -c fatlink -n '__fatlink_at top' -a check -d 'Say what would not link, and why'
complete -c fatlink -n '__fatlink_at top' -a inspect -d 'Show what fatbins hold'
complete -c fatlink -n '__fatlink_at top' -a digest -d 'Add digests to fatbins'
complete -c fatlink -n '__fatlink_at top' -a list -d 'Show the installed libraries and transforms'
complete -c fatlink -n '__fatlink_at top' -a cache -d 'The cache of links'
complete -c fatlink -n '__fatlink_at top' -a doctor -d 'Show what works on this machine'
complete -c fatlink -n '__fatlink_at top' -a bench -d 'Time kernels and links'
complete -c fatlink -n '__fatlink_at cache' -a path -d 'Print the user\'s folder'
complete -c fatlink -n '__fatlink_at cache' -a stats -d 'Show how much is kept'
complete -c fatlink -n '__fatlink_at cache' -a warm -d 'Link now what will be needed'
complete -c fatlink -n '__fatlink_at cache' -a verify -d 'Read every entry'
complete -c fatlink -n '__fatlink_at cache' -a prune -d 'Remove what is damaged, dead or too much'
complete -c fatlink -n '__fatlink_at cache' -a clear -d 'Remove every entry'

complete -c fatlink -n '__fatlink_at link check inspect cache/warm' -ka '(__fatlink_files .fatbin; __fatlink_names)'
complete -c fatlink -n '__fatlink_at digest' -ka '(__fatlink_files .fatbin)'
complete -c fatlink -n '__fatlink_at list' -a '(__fatlink_names)'

complete -c fatlink -n '__fatlink_at run link check inspect digest list doctor bench cache/path cache/stats cache/warm cache/verify cache/prune cache/clear' -l json -d 'One JSON object on standard output'
complete -c fatlink -n '__fatlink_at run link cache/warm' -l in-process -d 'Run nvJitLink in this process'
complete -c fatlink -n '__fatlink_at run link cache/warm' -l allow-unconfined -d 'Link although the kernel refuses the sandbox'
complete -c fatlink -n '__fatlink_at run link cache/warm' -l link-timeout -x -d 'Seconds a link may take'
complete -c fatlink -n '__fatlink_at run link cache/warm' -l no-cache -d 'Link anew'
complete -c fatlink -n '__fatlink_at run link cache/warm' -l require-inlined -d 'A hook left as a call is an error'
complete -c fatlink -n '__fatlink_at run link check' -l kernel -x -d 'Kernel to execute, or that must be there'
complete -c fatlink -n '__fatlink_at run check cache/warm' -l mode -xa 'ptx lto both' -d 'Link modes'
complete -c fatlink -n '__fatlink_at link' -l mode -xa 'ptx lto' -d 'Link mode'
complete -c fatlink -n '__fatlink_at link' -l emit -xa 'cubin ptx' -d 'What to write'
complete -c fatlink -n '__fatlink_at cache/warm' -l emit -xa '(__fatlink_list cubin ptx)' -d 'What to keep'
complete -c fatlink -n '__fatlink_at link check inspect cache/warm' -l target -xa "(__fatlink_list (__fatlink_targets '') native all)" -d 'GPU architectures'

complete -c fatlink -n '__fatlink_at run' -l library -xka '(__fatlink_files .fatbin; __fatlink_names --kind library)' -d 'Fatbin with the kernel'
complete -c fatlink -n '__fatlink_at run bench' -l transform -xka '(__fatlink_files .fatbin; __fatlink_names --kind transform)' -d 'Fatbin that fills its hook'
complete -c fatlink -n '__fatlink_at run' -l device -xa "gpu cpu (__fatlink_targets cpu:)" -d 'Where to execute'
complete -c fatlink -n '__fatlink_at run' -l instruction-budget -x -d 'On cpu, of a warp'
complete -c fatlink -n '__fatlink_at run' -l check-races -d 'On cpu, two threads writing one address is an error'
complete -c fatlink -n '__fatlink_at run' -l input -xka '(__fatlink_files .npy)' -d 'Data instead of generated elements'
complete -c fatlink -n '__fatlink_at run' -l output -xka '(__fatlink_files .npy)' -d 'File for the results'
complete -c fatlink -n '__fatlink_at run' -l seed -x -d 'Of the generated elements'
complete -c fatlink -n '__fatlink_at run' -l print -x -d 'Show the first results'
complete -c fatlink -n '__fatlink_at run bench' -l elements -x -d 'How many'
complete -c fatlink -n '__fatlink_at link' -s o -l output -rF -d 'File to write'
complete -c fatlink -n '__fatlink_at check' -l nvjitlink -x -d 'Judge against this version'
complete -c fatlink -n '__fatlink_at inspect' -l expect -xa "(__fatlink_targets ptx: ltoir: elf:)" -d 'Fail where no entry is one'
complete -c fatlink -n '__fatlink_at inspect' -l expect-ident -x -d 'Fail where an ident is another'
complete -c fatlink -n '__fatlink_at inspect' -l expect-hook -d 'Fail where no hook is defined or called'
complete -c fatlink -n '__fatlink_at inspect' -l expect-reference -xka '(__fatlink_files .json)' -d 'Fail where it is no reference of the fatbin'
complete -c fatlink -n '__fatlink_at inspect' -l ptx -d 'Print the PTX'
complete -c fatlink -n '__fatlink_at list' -l kind -xa 'library transform' -d 'These alone'
complete -c fatlink -n '__fatlink_at list' -l names -d 'Names alone'
complete -c fatlink -n '__fatlink_at cache/warm' -l layer -xa '(__fish_complete_directories)' -d 'Fill this folder'
complete -c fatlink -n '__fatlink_at bench' -l repeat -x -d 'Rounds'
