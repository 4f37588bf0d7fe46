// SPDX-License-Identifier: Apache-2.0
// Numbers that a person writes: counts and sizes of options and variables, exactly, without a
// locale.
//   <count>   ::= <decimal> [<unit>]
//   <decimal> ::= <digits> ["." <digits>] [("e" | "E") ["+" | "-"] <digits>]
//   <unit>    ::= "k" | "K" | "M" | "G"     powers of 1000
//               | "Ki" | "Mi" | "Gi"        powers of 1024
// Signs, spaces, hexadecimal digits, nan and inf are no part of a number.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fatlink::detail {

/// The whole number that `text` states, as "1.5M" does; nullopt where it is another form, not a
/// whole number, or beyond 64 bits.
std::optional<std::uint64_t> read_count(std::string_view text);

/// The <decimal> that `text` is; nullopt where it is another form or too large for a double.
std::optional<double> read_decimal(std::string_view text);

/// For hints, after "write it as".
constexpr char const* k_count_forms =
    "65536, 1e6, 1.5M (k, M, G: powers of 1000) or 64Ki (Ki, Mi, Gi: powers of 1024)";

}  // namespace fatlink::detail
