// SPDX-License-Identifier: Apache-2.0
#include "cubin/prototype.hpp"

#include <charconv>
#include <cstdint>
#include <optional>

#include "cubin/cubin_file.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

class prototype_reader {
 public:
  explicit prototype_reader(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool at_end() const
  {
    return rest_.empty() || rest_.front() == '\0' || rest_.front() == '|';
  }

  /// Whether `expected` is next; skips it.
  bool skip(std::string_view expected)
  {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }

  /// Nothing if no type is next. A count of 0 bytes is the mark of `...`.
  std::optional<ptx_parameter> read_type()
  {
    if (skip("b")) {
      auto const count = read_count();
      if (!count) return {};
      return ptx_parameter{.type = "b8", .count = *count};
    }
    for (auto const* name : {"ib32", "lb64", "xb128"})
      if (skip({name, 1}))
        return ptx_parameter{.type = name + 1, .count = read_count().value_or(0)};
    return {};
  }

 private:
  std::optional<unsigned long> read_count()
  {
    std::uint32_t count = 0;  // of bytes or elements: a parameter has less than 4 GiB
    auto const [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), count);
    if (code != std::errc{}) return {};
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return count;
  }

  std::string_view rest_;
};

}  // namespace

bool read_prototype(std::string_view text, ptx_function& function)
{
  prototype_reader reader(text);
  if (!reader.skip("#")) return false;
  if (!reader.skip("v")) {
    auto result = reader.read_type();
    if (!result || (result->type == "b8" && result->count == 0)) return false;
    function.results.push_back(std::move(*result));
  }
  while (!reader.at_end()) {
    auto parameter = reader.read_type();
    if (!parameter || function.is_variadic) return false;
    function.is_variadic = parameter->type == "b8" && parameter->count == 0;
    if (function.parameters.size() == limits::k_parameters)
      throw cubin_above_limit{
          0, detail::format("has a function of more than {} parameters", limits::k_parameters)};
    if (!function.is_variadic) function.parameters.push_back(std::move(*parameter));
  }
  return true;
}

}  // namespace fatlink::detail
