# SPDX-License-Identifier: Apache-2.0
# Fish completion for fatlink. Each line has one option and the commands that have it.

# Whether the current command is one of the arguments: a command, cache/COMMAND, or top for none.
function __fatlink_at
    set -l words (commandline -opc)
    set -l verb $words[2]
    set -q words[2]; or set verb top
    test "$verb" = cache; and set -q words[3]; and set verb cache/$words[3]
    contains -- $verb $argv
end

# The names of installed fatbins, from the program on the command line.
function __fatlink_names
    set -l program (string replace -r '^~/' $HOME/ -- (commandline -opc)[1])
    type -q $program; and $program list $argv --names 2>/dev/null
end

# The installed contracts.
function __fatlink_contracts
    set -l program (string replace -r '^~/' $HOME/ -- (commandline -opc)[1])
    type -q $program; and $program list --contracts 2>/dev/null
end

# The targets that the program knows, with each of the given prefixes.
function __fatlink_targets
    set -l program (string replace -r '^~/' $HOME/ -- (commandline -opc)[1])
    set -l targets (type -q $program; and $program list --targets 2>/dev/null)
    for target in $argv$targets
        echo $target
    end
end

# Files with one of these suffixes, and folders.
function __fatlink_files
    for suffix in $argv
        __fish_complete_suffix $suffix | string match -re '(?:'(string escape --style=regex -- $suffix)'|/)(?:\t.*)?$'
    end
end

# Files with the endings of inputs, and folders.
function __fatlink_inputs
    __fatlink_files .fatbin .ptx .ltoir .cubin .o .a .so .cu .ll .bc
end

# A list separated by commas: its text before the last item, followed by each word that it lacks.
function __fatlink_list
    set -l before (string replace -rf '^(--[a-z]+=)?(.*,)?.*$' '$2' -- (commandline -ct))
    for word in $argv
        contains -- $word (string split , -- "$before"); or echo $before$word
    end
end

complete -c fatlink -f
complete -c fatlink -s h -l help -d 'Print help'
complete -c fatlink -n '__fatlink_at top' -l version -d 'Print the version'
complete -c fatlink -n '__fatlink_at top' -a run -d 'Link a library with transforms, execute and verify'
complete -c fatlink -n '__fatlink_at top' -a link -d 'Link inputs and write the linked image'
complete -c fatlink -n '__fatlink_at top' -a check -d 'Check whether inputs link, and explain why not'
complete -c fatlink -n '__fatlink_at top' -a inspect -d 'Show the contents of inputs'
complete -c fatlink -n '__fatlink_at top' -a compile -d 'Compile a source to a fatbin, without nvcc'
complete -c fatlink -n '__fatlink_at top' -a pack -d 'Write one fatbin from several files'
complete -c fatlink -n '__fatlink_at top' -a digest -d 'Add digests to fatbins'
complete -c fatlink -n '__fatlink_at top' -a list -d 'Show the installed libraries and transforms'
complete -c fatlink -n '__fatlink_at top' -a cache -d 'Show, fill, check and clean the cache'
complete -c fatlink -n '__fatlink_at top' -a doctor -d 'Show what works on this machine'
complete -c fatlink -n '__fatlink_at top' -a bench -d 'Measure kernels, links and start-up'
complete -c fatlink -n '__fatlink_at cache' -a path -d 'Print the user\'s cache folder'
complete -c fatlink -n '__fatlink_at cache' -a stats -d 'Show entries, size, hits and misses'
complete -c fatlink -n '__fatlink_at cache' -a warm -d 'Link in advance and store the images'
complete -c fatlink -n '__fatlink_at cache' -a verify -d 'Read every entry'
complete -c fatlink -n '__fatlink_at cache' -a prune -d 'Remove damaged, abandoned and excess entries'
complete -c fatlink -n '__fatlink_at cache' -a clear -d 'Remove every entry, and the headers that NVRTC unpacked'

complete -c fatlink -n '__fatlink_at link check inspect pack cache/warm' -ka '(__fatlink_inputs; __fatlink_names)'
complete -c fatlink -n '__fatlink_at compile' -ka '(__fatlink_files .cu .ll .bc)'
complete -c fatlink -n '__fatlink_at digest' -ka '(__fatlink_files .fatbin)'
complete -c fatlink -n '__fatlink_at list' -a '(__fatlink_names)'

complete -c fatlink -n '__fatlink_at run link check inspect compile pack digest list doctor bench cache/path cache/stats cache/warm cache/verify cache/prune cache/clear' -l json -d 'Print one JSON object on standard output'
complete -c fatlink -n '__fatlink_at run link cache/warm' -l in-process -d 'Run nvJitLink in this process'
complete -c fatlink -n '__fatlink_at run link compile cache/warm bench' -l allow-unconfined -d 'Also work if the kernel refuses the sandbox'
complete -c fatlink -n '__fatlink_at run link cache/warm bench' -l link-timeout -x -d 'Time limit of a link, in seconds'
complete -c fatlink -n '__fatlink_at run link compile cache/warm' -l no-cache -d 'Neither read nor write the cache'
complete -c fatlink -n '__fatlink_at run link cache/warm bench' -l require-inlined -d 'Fail if a hook is not inlined'
complete -c fatlink -n '__fatlink_at run link check cache/warm bench' -l allow-calls -d 'Also link inputs without LTO-IR or PTX, with calls'
complete -c fatlink -n '__fatlink_at run link check cache/warm bench' -l whole-archive -d 'Link all members of archives'
complete -c fatlink -n '__fatlink_at run' -l kernel -x -d 'Kernel to execute'
complete -c fatlink -n '__fatlink_at check' -l kernel -x -d 'Require this kernel'
complete -c fatlink -n '__fatlink_at link cache/warm bench' -l kernel -x -d 'Keep only these kernels'
complete -c fatlink -n '__fatlink_at run link cache/warm bench' -l keep-variable -x -d 'lto: keep only these variables for the host'
complete -c fatlink -n '__fatlink_at run link cache/warm bench' -l drop-unused-variables -d 'lto: drop variables that no kernel writes'
complete -c fatlink -n '__fatlink_at run link cache/warm bench' -l max-registers -x -d 'Registers of a thread at most, 24 to 255'
complete -c fatlink -n '__fatlink_at run link cache/warm bench' -s O -l optimize -xa '0 3' -d 'Optimization'
complete -c fatlink -n '__fatlink_at run link cache/warm bench' -l fast-compile -xa 'min mid max' -d 'Shorten the link'
complete -c fatlink -n '__fatlink_at run link compile cache/warm bench' -l line-info -d 'Add source lines for profilers'
complete -c fatlink -n '__fatlink_at run link cache/warm bench' -l debug -d 'Code for debuggers'
complete -c fatlink -n '__fatlink_at run link cache/warm bench' -l stack-protector -d 'Calls trap after a write past their arrays'
complete -c fatlink -n '__fatlink_at run link cache/warm bench' -l latest-nvvm -d 'Compile with the newest compiler of nvJitLink'
complete -c fatlink -n '__fatlink_at run link check compile cache/warm bench' -l ftz -xa '0 1' -d 'Flush denormal numbers'
complete -c fatlink -n '__fatlink_at run link check compile cache/warm bench' -l prec-div -xa '0 1' -d 'Divisions round correctly'
complete -c fatlink -n '__fatlink_at run link check compile cache/warm bench' -l prec-sqrt -xa '0 1' -d 'Square roots round correctly'
complete -c fatlink -n '__fatlink_at run link check compile cache/warm bench' -l fma -xa '0 1' -d 'Contract multiplication and addition'
complete -c fatlink -n '__fatlink_at run link check compile cache/warm bench' -l use-fast-math -d 'Fast, less accurate floating point'
complete -c fatlink -n '__fatlink_at compile' -l arch -xa "(__fatlink_list (__fatlink_targets ''))" -d 'Architectures of PTX and LTO-IR'
complete -c fatlink -n '__fatlink_at compile' -l sass -xa "(__fatlink_list (__fatlink_targets ''))" -d 'Architectures of cubins'
complete -c fatlink -n '__fatlink_at compile' -l timeout -x -d 'Time limit of the compile, in seconds'
complete -c fatlink -n '__fatlink_at compile' -l memory-limit -x -d 'Memory of the compile, in MiB'
complete -c fatlink -n '__fatlink_at compile' -l timing -d 'Show where the time went'
complete -c fatlink -n '__fatlink_at run link check inspect compile pack cache/warm bench' -l contract -xa '(__fatlink_contracts)' -d 'Contract whose header is included (sources only)'
complete -c fatlink -n '__fatlink_at run link check inspect compile pack cache/warm bench' -l header -rF -d 'Header to include (sources only)'
complete -c fatlink -n '__fatlink_at run link check inspect compile pack cache/warm bench' -s I -l include-folder -xa '(__fish_complete_directories)' -d 'Folder searched by #include (sources only)'
complete -c fatlink -n '__fatlink_at run link check inspect compile pack cache/warm bench' -s D -l define -x -d 'Macro (sources only)'
complete -c fatlink -n '__fatlink_at run link check inspect compile pack cache/warm bench' -l std -xa 'c++03 c++11 c++14 c++17 c++20' -d 'Standard of C++ (sources only)'
complete -c fatlink -n '__fatlink_at run link check inspect compile pack cache/warm bench' -l compile-timeout -x -d 'Time limit of the compile of a source, in seconds'
complete -c fatlink -n '__fatlink_at run link cache/warm bench' -l threads -x -d 'Threads of nvJitLink, 1 to 256'
complete -c fatlink -n '__fatlink_at run link cache/warm bench' -l no-driver-cache -d 'Do not use the cache of the driver'
complete -c fatlink -n '__fatlink_at run link cache/warm bench' -l ptxas -x -d 'Pass one option to ptxas'
complete -c fatlink -n '__fatlink_at run link cache/warm bench' -l nvvm -x -d 'lto: pass one option to libNVVM'
complete -c fatlink -n '__fatlink_at run check cache/warm bench' -l mode -xa 'ptx lto both sass' -d 'Link mode'
complete -c fatlink -n '__fatlink_at link' -l mode -xa 'ptx lto sass' -d 'Link mode'
complete -c fatlink -n '__fatlink_at link' -l emit -xa 'cubin ptx ltoir relocatable' -d 'Kind of image'
complete -c fatlink -n '__fatlink_at run link bench' -l resources -d 'Show registers and memory of each kernel'
complete -c fatlink -n '__fatlink_at cache/warm' -l emit -xa '(__fatlink_list cubin ptx)' -d 'Kind of image'
complete -c fatlink -n '__fatlink_at link check inspect cache/warm' -l target -xa "(__fatlink_list (__fatlink_targets '') native all)" -d 'GPU architectures'

complete -c fatlink -n '__fatlink_at run bench' -l library -xka '(__fatlink_inputs; __fatlink_names --kind library)' -d 'Library'
complete -c fatlink -n '__fatlink_at run bench' -l transform -xka '(__fatlink_inputs; __fatlink_names --kind transform)' -d 'Transform'
complete -c fatlink -n '__fatlink_at run' -l watch -xka '(__fatlink_inputs; __fatlink_names --kind transform)' -d 'Run again when this transform changes'
complete -c fatlink -n '__fatlink_at run' -l device -xa "gpu cpu all (__fatlink_targets cpu:)" -d 'Device'
complete -c fatlink -n '__fatlink_at run' -l instruction-budget -x -d 'On cpu: maximum instructions of a warp'
complete -c fatlink -n '__fatlink_at run' -l check-races -d 'On cpu: fail if a thread accesses what another one writes, without synchronization'
complete -c fatlink -n '__fatlink_at run' -l check-uninitialized -d 'On cpu: fail if a thread reads shared memory that nothing has written'
complete -c fatlink -n '__fatlink_at run' -l deterministic -d 'On cpu: run blocks in order on one core'
complete -c fatlink -n '__fatlink_at run' -l input -xka '(__fatlink_files .npy)' -d 'Array to use instead of generated elements'
complete -c fatlink -n '__fatlink_at run' -l output -xka '(__fatlink_files .npy)' -d 'File for the results'
complete -c fatlink -n '__fatlink_at run' -l set -x -d 'Value of an argument of a launch plan'
complete -c fatlink -n '__fatlink_at run' -l state -r -d 'State of a transform'
complete -c fatlink -n '__fatlink_at run' -l expect -xka '(__fatlink_files .npy)' -d 'Array that an output must agree with'
complete -c fatlink -n '__fatlink_at run' -l compare-cpu -d 'Also run on the reference device'
complete -c fatlink -n '__fatlink_at run' -l seed -x -d 'Seed of the generated elements'
complete -c fatlink -n '__fatlink_at run' -l print -x -d 'Show the first results'
complete -c fatlink -n '__fatlink_at run bench' -l elements -x -d 'Number of elements'
complete -c fatlink -n '__fatlink_at link' -s o -l output -rF -d 'File to write'
complete -c fatlink -n '__fatlink_at check' -l nvjitlink -x -d 'Compare toolkit versions with this version'
complete -c fatlink -n '__fatlink_at inspect' -l expect -xa "(__fatlink_targets ptx: ltoir: elf:)" -d 'Fail if there is no such entry'
complete -c fatlink -n '__fatlink_at inspect' -l expect-ident -x -d 'Fail if an ident is not this text'
complete -c fatlink -n '__fatlink_at inspect' -l expect-hook -d 'Fail if no hook is defined or called'
complete -c fatlink -n '__fatlink_at inspect' -l expect-reference -xka '(__fatlink_files .json)' -d 'Fail if this sidecar cannot be the reference'
complete -c fatlink -n '__fatlink_at inspect' -l expect-plan -xka '(__fatlink_files .json)' -d 'Fail if this file cannot be the launch plan'
complete -c fatlink -n '__fatlink_at inspect' -l ptx -d 'Print the PTX'
complete -c fatlink -n '__fatlink_at compile pack' -s o -l output -rka '(__fatlink_files .fatbin)' -d 'Fatbin to write'
complete -c fatlink -n '__fatlink_at pack' -l package -x -d 'Package that ships the fatbin'
complete -c fatlink -n '__fatlink_at list' -l kind -xa 'library transform' -d 'Show only this kind'
complete -c fatlink -n '__fatlink_at list' -l names -d 'Print only the names'
complete -c fatlink -n '__fatlink_at cache/warm' -l layer -xa '(__fish_complete_directories)' -d 'Fill this folder'
complete -c fatlink -n '__fatlink_at cache/warm' -l one-copy -d 'Half the size, not for a named nvJitLink'
complete -c fatlink -n '__fatlink_at bench' -l set -x -d 'Value of an argument of a launch plan'
complete -c fatlink -n '__fatlink_at bench' -l only -xa '(__fatlink_list kernels links first-launch starts preflight reference-device)' -d 'What is measured'
complete -c fatlink -n '__fatlink_at bench' -l repeat -x -d 'Number of rounds'
