// SPDX-License-Identifier: Apache-2.0
#include "fatlink/float_flags.hpp"

#include "util/text/format.hpp"

namespace fatlink {
namespace {

void read_flag(std::string_view options, std::string_view name, bool& flag) noexcept
{
  for (auto position = options.find(name); position != std::string_view::npos;
       position = options.find(name, position + 1)) {
    auto const value = options.substr(position + name.size(), 1);
    if (value == "0" || value == "1") flag = value == "1";  // the last one counts
  }
}

}  // namespace

float_flags parse_float_flags(std::string_view options) noexcept
{
  float_flags flags;
  read_flag(options, "-ftz=", flags.ftz);
  read_flag(options, "-prec_div=", flags.prec_div);
  read_flag(options, "-prec_sqrt=", flags.prec_sqrt);
  read_flag(options, "-fmad=", flags.fmad);
  return flags;
}

std::string to_string(float_flags const& flags)
{
  return detail::format("-ftz={:d} -prec_div={:d} -prec_sqrt={:d} -fmad={:d}", flags.ftz,
                        flags.prec_div, flags.prec_sqrt, flags.fmad);
}

}  // namespace fatlink
