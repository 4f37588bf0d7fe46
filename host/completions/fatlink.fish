# SPDX-License-Identifier: Apache-2.0
# Fish completion for fatlink. The program on the command line says what to offer: host/cli/complete.cpp describes its
# answer.

# Folders, and with "files" the files with one of the endings $argv[3..], for the current word without its first $argv[2]
# characters.
function __fatlink_files
    set -l before (string sub -l $argv[2] -- (commandline -ct))
    set -l endings (string escape --style=regex -- $argv[3..])
    test $argv[1] = files; and not set -q argv[3]; and set endings '[^/]'
    for path in (complete -C "'' "(string sub -s (math $argv[2] + 1) -- (commandline -ct)))
        string match -qr -- '(?:'(string join '|' -- / $endings)')(?:\t.*)?$' $path; and echo $before$path
    end
end

function __fatlink
    set -l words (commandline -opc)
    set -l program (string replace -r '^~/' $HOME/ -- $words[1])
    type -q $program; or return
    for line in (env $program --complete $words[2..] (commandline -ct) 2>/dev/null)
        if string match -q \t'*' -- $line
            __fatlink_files (string split -n ' ' -- (string trim -- $line))
        else
            echo $line
        end
    end
end

complete -c fatlink -f -ka '(__fatlink)'
