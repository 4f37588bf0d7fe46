// SPDX-License-Identifier: Apache-2.0
// Finds and reads the headers of a source, for the compiler in memory. Headers that NVRTC brings
// are unpacked for the first source that includes a header of no other folder.
// Threads: no shared state.
#pragma once

#include <string>

#include "compiler/compiler_helpers.hpp"
#include "compiler/headers/cuda_headers.hpp"
#include "compiler/headers/header_set.hpp"
#include "fatlink/compiler.hpp"

namespace fatlink::detail {

/// A header that is included before the source.
struct forced_header {
  std::string file_name = {};
  std::string text = {};
  std::filesystem::path folder = {};  ///< of which it may include files; empty: of none
  std::string path = {};              ///< of the header in that folder; empty: its file_name
};

/// What includes headers.
struct header_request {
  std::string_view code = {};  ///< the source
  compile_options const& options;
  forced_header const* forced = nullptr;  ///< null: none
};

struct collected_headers {
  header_set headers;
  std::string forced_name = {};  ///< of the forced header in the set; empty: none
  std::string problem = {};      ///< why NVRTC could not unpack the headers that it brings
};

/// The headers of `request` from the folders of its options and of data_include_folders() only.
/// @throws as header_set.
collected_headers collect_own_headers(header_request const& request, compiler_helpers& helpers);

/// The headers of `request`, from the folders of its options, of data_include_folders(), then from
/// `places`. Where NVRTC cannot unpack its headers, those of another toolkit may suffice, or none.
/// The result uses `helpers`, which must outlive it.
/// @throws as header_set; compile_error (compile_timeout) the time limit of `helpers` has passed.
collected_headers collect_headers(header_request const& request, cuda_headers const& places,
                                  compiler_helpers& helpers);

}  // namespace fatlink::detail
