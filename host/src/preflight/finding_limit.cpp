// SPDX-License-Identifier: Apache-2.0
#include "preflight/finding_limit.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "util/limits.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {

bool finding_limit::is_full() const noexcept
{
  return count_ >= limits::k_findings;
}

void finding_limit::finish()
{
  if (!rest_) return;
  rest_->symbol.clear();
  rest_->message = detail::format("{}: {} more findings of this kind; the first {} are listed",
                                  fmt::join(rest_->files, ", "), count_ - limits::k_findings,
                                  limits::k_findings);
  rest_->hint = "correct the listed ones, then check again";
  report_.push_back(std::move(*rest_));
}

std::string list_names(std::vector<std::string> const& names, std::size_t most)
{
  auto const count = std::min(names.size(), most);
  auto const end = names.begin() + static_cast<std::ptrdiff_t>(count);
  auto const unlisted = names.size() - count;
  return detail::format("{}{}", fmt::join(names.begin(), end, ", "),
                        unlisted == 0 ? std::string{} : detail::format(" and {} more", unlisted));
}

}  // namespace fatlink::detail
