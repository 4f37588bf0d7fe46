// SPDX-License-Identifier: Apache-2.0
#include "cache/ledger.hpp"

#include <algorithm>

#include "util/bytes/sha256.hpp"
#include "util/text/sequence.hpp"

namespace fatlink::cache {
namespace {

// The format of the ledger. Little-endian, without padding, always 1,124 bytes.
//
// <ledger>     ::= <magic> <version> <counted> <numbers> <last fault> <check>
// <magic>      ::= "FLNKLEDG"
// <version>    ::= u32; 1: the first
// <counted>    ::= u32; 1: <bytes> is known
// <numbers>    ::= 6 x u64: bytes, hits, misses, stored, evicted, faults
// <last fault> ::= u32 1024, then 1,024 bytes: text, padded with NUL
// <check>      ::= 32 bytes: SHA-256 of everything before it
constexpr char const* k_file = "ledger";
constexpr std::string_view k_ledger_magic = "FLNKLEDG";
constexpr std::uint32_t k_version = 1;
constexpr std::size_t k_ledger_check_size = std::tuple_size_v<digest256>;
constexpr std::uint64_t k_largest_ledger = 4096;  // bytes
constexpr std::size_t k_fault_size = 1024;

figures decode(bytes_view content)
{
  detail::sequence_reader reader(content);
  (void)reader.view(k_ledger_magic.size());
  figures result;
  if (reader.number<std::uint32_t>() != k_version) return result;
  auto const is_counted = reader.number<std::uint32_t>() == 1;
  for (auto* number : {&result.bytes, &result.hits, &result.misses, &result.stored, &result.evicted,
                       &result.faults})
    *number = reader.number<std::uint64_t>();
  result.last_fault = reader.text();
  result.last_fault.resize(std::min(result.last_fault.find('\0'), result.last_fault.size()));
  result.counted = is_counted;
  return result;
}

std::optional<figures> read_valid_ledger(folder const& cache_folder)
{
  auto const bytes = cache_folder.read(k_file, k_largest_ledger);
  if (!bytes || bytes->size() < k_ledger_check_size) return std::nullopt;
  auto const content = bytes_view(*bytes).first(bytes->size() - k_ledger_check_size);
  auto const digest = detail::sha256(content);
  if (!std::equal(digest.begin(), digest.end(), bytes->end() - k_ledger_check_size))
    return std::nullopt;
  try {
    return decode(content);
  } catch (detail::sequence_error const&) {
    return std::nullopt;
  }
}

}  // namespace

figures read_ledger(folder const& cache_folder)
{
  return read_valid_ledger(cache_folder).value_or(figures{});
}

bool has_ledger(folder const& cache_folder)
{
  return read_valid_ledger(cache_folder).has_value();
}

void write_ledger(folder const& cache_folder, figures const& figures)
{
  detail::sequence_writer writer;
  writer.raw(k_ledger_magic.data(), k_ledger_magic.size());
  writer.number(k_version);
  writer.number(static_cast<std::uint32_t>(figures.counted));
  for (auto const number : {figures.bytes, figures.hits, figures.misses, figures.stored,
                            figures.evicted, figures.faults})
    writer.number(number);
  // The ledger always has the same size, so that one write in place replaces it.
  auto last_fault = figures.last_fault.substr(0, k_fault_size);
  last_fault.resize(k_fault_size, '\0');
  writer.text(last_fault);
  auto const check = detail::sha256(writer.made());
  writer.raw(check.data(), check.size());
  cache_folder.write_over(k_file, writer.made());
}

}  // namespace fatlink::cache
