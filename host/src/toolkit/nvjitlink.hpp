// SPDX-License-Identifier: Apache-2.0
// nvJitLink as one of the vendor's libraries, and its functions as pointers, looked up at run time,
// with the types of nvJitLink.h. That header binds names with a version (__nvJitLinkCreate_13_0);
// fatlink works with every 13.x. Threads: safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "fatlink/nvjitlink.hpp"
#include "toolkit/toolkit_library.hpp"

namespace fatlink::detail {

/// How nvJitLink is searched and recognized.
toolkit_library const& nvjitlink_library();

/// library_identity() of nvJitLink.
inline std::optional<std::string> nvjitlink_identity(std::string const& path)
{
  return library_identity(path, nvjitlink_library());
}

}  // namespace fatlink::detail

namespace fatlink {

struct nvjitlink::api {
  using handle = struct nvJitLink*;
  int (*create)(handle* link, std::uint32_t count, char const** options) = nullptr;
  int (*destroy)(handle* link) = nullptr;
  int (*add_data)(handle link, int kind, void const* data, std::size_t size,
                  char const* name) = nullptr;
  int (*complete)(handle link) = nullptr;
  int (*cubin_size)(handle link, std::size_t* size) = nullptr;
  int (*cubin)(handle link, void* buffer) = nullptr;
  int (*ptx_size)(handle link, std::size_t* size) = nullptr;
  int (*ptx)(handle link, char* buffer) = nullptr;
  int (*ltoir_size)(handle link, std::size_t* size) = nullptr;  ///< null before 13.3
  int (*ltoir)(handle link, void* buffer) = nullptr;            ///< null before 13.3
  int (*error_log_size)(handle link, std::size_t* size) = nullptr;
  int (*error_log)(handle link, char* buffer) = nullptr;
  int (*info_log_size)(handle link, std::size_t* size) = nullptr;
  int (*info_log)(handle link, char* buffer) = nullptr;
  int (*version)(unsigned* major, unsigned* minor) = nullptr;
};

}  // namespace fatlink
