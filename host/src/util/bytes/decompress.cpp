// SPDX-License-Identifier: Apache-2.0
#include "util/bytes/decompress.hpp"

#include <lz4.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <limits>
#include <new>

#include "util/text/format.hpp"

namespace fatlink::detail {

std::string decompress_zstd(bytes_view frame, std::size_t size, std::string& error)
{
  std::string text(size, '\0');
  auto const written = ZSTD_decompress(text.data(), size, frame.data(), frame.size());
  if (ZSTD_getErrorCode(written) == ZSTD_error_memory_allocation) throw std::bad_alloc();
  if (ZSTD_isError(written) != 0) {
    error = detail::format("zstd: {}", ZSTD_getErrorName(written));
    return {};
  }
  if (written == size) return text;
  error = detail::format("zstd: {} bytes instead of {}", written, size);
  return {};
}

std::string decompress_lz4(bytes_view block, std::size_t size, std::string& error)
{
  constexpr std::size_t k_most = std::numeric_limits<int>::max();
  if (block.size() > k_most || size > k_most) {
    error = "lz4: block too large";
    return {};
  }
  std::string text(size, '\0');
  auto const written = LZ4_decompress_safe(reinterpret_cast<char const*>(block.data()), text.data(),
                                           static_cast<int>(block.size()), static_cast<int>(size));
  if (written >= 0 && static_cast<std::size_t>(written) == size) return text;
  error = written < 0 ? "lz4: damaged block"
                      : detail::format("lz4: {} bytes instead of {}", written, size);
  return {};
}

}  // namespace fatlink::detail
