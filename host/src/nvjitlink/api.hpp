// SPDX-License-Identifier: Apache-2.0
// nvJitLink's functions as pointers. Types from nvJitLink.h; the names that header binds
// (__nvJitLinkCreate_13_0) are looked up at run time, so that any 13.x serves.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fatlink/nvjitlink.hpp"

namespace fatlink {

struct nvjitlink::api {
  using handle = struct nvJitLink*;
  int (*create)(handle* made, std::uint32_t count, char const** options) = nullptr;
  int (*destroy)(handle* made) = nullptr;
  int (*add_data)(handle to, int kind, void const* data, std::size_t size,
                  char const* name) = nullptr;
  int (*complete)(handle of) = nullptr;
  int (*cubin_size)(handle of, std::size_t* size) = nullptr;
  int (*cubin)(handle of, void* to) = nullptr;
  int (*ptx_size)(handle of, std::size_t* size) = nullptr;
  int (*ptx)(handle of, char* to) = nullptr;
  int (*error_log_size)(handle of, std::size_t* size) = nullptr;
  int (*error_log)(handle of, char* to) = nullptr;
  int (*info_log_size)(handle of, std::size_t* size) = nullptr;
  int (*info_log)(handle of, char* to) = nullptr;
  int (*version)(unsigned* major, unsigned* minor) = nullptr;
};

}  // namespace fatlink
