// SPDX-License-Identifier: Apache-2.0
#include "cache/ledger.hpp"

#include <algorithm>

#include "util/bytes/sha256.hpp"
#include "util/text/sequence.hpp"

namespace fatlink::cache {
namespace {

constexpr char const* k_file = "ledger";
constexpr std::string_view k_magic = "FLNKLEDG";
constexpr std::uint32_t k_version = 1;
constexpr std::size_t k_check = std::tuple_size_v<digest256>;
constexpr std::uint64_t k_most = 4096;
constexpr std::size_t k_most_text = 1024;

figures decode(bytes_view content)
{
  detail::sequence_reader from(content);
  (void)from.view(k_magic.size());
  figures found;
  if (from.number<std::uint32_t>() != k_version) return found;
  auto const counted = from.number<std::uint32_t>() == 1;
  for (auto* number :
       {&found.bytes, &found.hits, &found.misses, &found.stored, &found.evicted, &found.faults})
    *number = from.number<std::uint64_t>();
  found.last_fault = from.text();
  found.last_fault.resize(std::min(found.last_fault.find('\0'), found.last_fault.size()));
  found.counted = counted;
  return found;
}

std::optional<figures> read_sound_ledger(folder const& in)
{
  auto const bytes = in.read(k_file, k_most);
  if (!bytes || bytes->size() < k_check) return std::nullopt;
  auto const content = bytes_view(*bytes).first(bytes->size() - k_check);
  auto const sum = detail::sha256(content);
  if (!std::equal(sum.begin(), sum.end(), bytes->end() - k_check)) return std::nullopt;
  try {
    return decode(content);
  } catch (detail::sequence_error const&) {
    return std::nullopt;
  }
}

}  // namespace

figures read_ledger(folder const& in)
{
  return read_sound_ledger(in).value_or(figures{});
}

bool has_ledger(folder const& in)
{
  return read_sound_ledger(in).has_value();
}

void write_ledger(folder const& in, figures const& now)
{
  detail::sequence_writer to;
  to.raw(k_magic.data(), k_magic.size());
  to.number(k_version);
  to.number(static_cast<std::uint32_t>(now.counted));
  for (auto const number : {now.bytes, now.hits, now.misses, now.stored, now.evicted, now.faults})
    to.number(number);
  // Always of one size, so that one write in place replaces it.
  auto text = now.last_fault.substr(0, k_most_text);
  text.resize(k_most_text, '\0');
  to.text(text);
  auto const check = detail::sha256(to.made());
  to.raw(check.data(), check.size());
  in.write_over(k_file, to.made());
}

}  // namespace fatlink::cache
