// SPDX-License-Identifier: Apache-2.0
// Reads a compiler's log ("half.cu(3): error: …"), and turns a compile that failed, or whose
// compiler died, into an error that names the user's line. Threads: no shared state.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/installed_contract.hpp"
#include "fatlink/compiler.hpp"
#include "link_helper/link_helper.hpp"
#include "toolkit/program.hpp"

namespace fatlink::detail {

/// The source of a compile.
struct compile_subject {
  std::string name = {};                         ///< as the user gave it: "src/half.cu"
  std::string program_name = {};                 ///< as the compiler knows it: "half.cu"
  installed_contract const* contract = nullptr;  ///< null: none
  bool has_header = false;                       ///< one that is included instead of a contract's
  std::vector<std::string> folders = {};         ///< that #include searches
  /// The file of each header, for editors, by the path at which the compiler looked it up
  /// (header_files); filled before messages are made.
  std::map<std::string, std::string> header_files = {};
  std::string headers_error = {};  ///< why NVRTC could not unpack its headers; empty: it did
};

/// Whether the compiler gave up because it got no more memory.
bool is_out_of_memory(compile_product const& product);

/// The lines of the logs that state warnings, each once, as the compiler names the file; at most
/// 100, then how many more there are.
std::vector<std::string> compile_warnings(std::vector<compile_product> const& products);

/// @throws compile_error (compile_failed, header_not_found) or unavailable_error (an architecture
///   that the compiler does not know), for a product that failed. `refusal`: why a file that is
///   there was not read (header_files::refusal_of).
[[noreturn]] void refuse_product(compile_product const& product, compile_subject const& subject,
                                 std::string const& refusal, std::string const& producer);

/// "src/half.cu:3: error: …" of "half.cu(3): error: …"; of a header, its file.
std::string with_user_name(std::string_view line, compile_subject const& subject);

/// The name of the file in "could not open source file "NAME"" of the log; empty if there is none.
std::string missing_header_of(std::string_view log);

/// @throws compile_error (compile_memory) always. `name`: of the source.
[[noreturn]] void refuse_memory(std::string const& name, compiler_settings const& settings);

/// @throws compile_error (compile_timeout) always: the headers took all the time.
[[noreturn]] void refuse_slow_headers(std::string const& name, compiler_settings const& settings);

/// @throws compile_error always: compile_timeout; compile_memory, if the process had used most of
///   its memory limit; otherwise the code is the reason ("SIGSEGV").
[[noreturn]] void refuse_death(helper_death const& death, std::string const& name,
                               compiler_settings const& settings);

}  // namespace fatlink::detail
