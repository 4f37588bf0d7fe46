// SPDX-License-Identifier: Apache-2.0
#include "verification/scratch_floats.hpp"

#include <csignal>

#include "util/files/unnamed_file.hpp"
#include "util/files/write_all.hpp"
#include "util/process/signal_guard.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {

scratch_floats::scratch_floats() : folder_(scratch_folder()), file_(open_scratch(folder_)) {}

bool scratch_floats::append(std::span<float const> values) noexcept
{
  signal_guard const file_limit(SIGXFSZ);
  return file_.get() >= 0 && write_all(file_.get(), std::as_bytes(values));
}

void scratch_floats::read(std::span<float> destination, std::size_t start) const
{
  if (read_at(file_, start * sizeof(float), std::as_writable_bytes(destination), folder_)) return;
  throw file_error(
      stage::verification,
      {.message = detail::format("{}: a temporary file ends before the results", folder_.string()),
       .input = folder_.string(),
       .code = error_code::unreadable_file,
       .hint = "set TMPDIR to a folder on a disk that works"});
}

}  // namespace fatlink::detail
