// SPDX-License-Identifier: Apache-2.0
// Parses numbers of options and environment variables: exact, and independent of the locale.
//   <count>   ::= <decimal> [<unit>]
//   <decimal> ::= <digits> ["." <digits>] [("e" | "E") ["+" | "-"] <digits>]
//   <unit>    ::= "k" | "K" | "M" | "G"     powers of 1000
//               | "Ki" | "Mi" | "Gi"        powers of 1024
// Signs, spaces, hexadecimal digits, nan and inf are not allowed.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fatlink::detail {

/// The whole number in `text`, such as "1.5M"; nullopt if it has another form, is not whole, or
/// exceeds 64 bits.
std::optional<std::uint64_t> read_count(std::string_view text);

/// The <decimal> in `text`; nullopt if it has another form or is too large for a double.
std::optional<double> read_decimal(std::string_view text);

/// For hints, after "write it as".
constexpr char const* k_count_forms =
    "65536, 1e6, 1.5M (k, M, G: powers of 1000) or 64Ki (Ki, Mi, Gi: powers of 1024)";

}  // namespace fatlink::detail
