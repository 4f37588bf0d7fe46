// SPDX-License-Identifier: Apache-2.0
// `fatlink --complete WORD...`: what a shell offers at the cursor. The scripts in host/completions
// pass the words of the command line up to the cursor and show the answer, so that they know no
// option themselves. Threads: one at a time.
#pragma once

#include <span>
#include <string>

#include "verbs.hpp"

namespace fatlink::cli {

/// Prints on standard output what `words.back()`, which may be empty, can become. `words`: the
/// command line without the program's name.
///
///   <answer> ::= { <word> [ TAB <description> ] LF  |  TAB <files> LF }
///   <files>  ::= "files" SP <length> { SP <ending> }  |  "folders" SP <length>
///
/// A <word> replaces the whole last word. <files>: the shell offers its files with one of the
/// endings (none: all files) and its folders for the last word without its first <length> bytes.
/// Nothing is printed where nothing fits.
void print_completions(CLI::App const& program, std::span<std::string const> words);

}  // namespace fatlink::cli
