// SPDX-License-Identifier: Apache-2.0
#include "fatlink/target.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "fatlink/error.hpp"

namespace fatlink {
namespace {

// `nvcc --list-gpu-arch` of CUDA 13.0. nvJitLink itself answers an unknown one with error 16
// at best and with exit(1) at worst, so the list is ours.
constexpr std::array k_known{75U, 80U, 86U, 87U, 88U, 89U, 90U, 100U, 103U, 110U, 120U, 121U};
constexpr unsigned k_oldest = k_known.front();
// Architectures that came with a later CUDA 13, and its minor version. nvJitLink 13.3 dies of
// SIGSEGV on sm_107.
struct later_architecture {
  unsigned number;
  unsigned minor;
};
constexpr std::array k_later{later_architecture{107, 4}};
constexpr unsigned k_newest_minor = 5;  // of the newest nvJitLink that was measured
// Unknown numbers in between may be of a newer CUDA.
constexpr unsigned k_first_unnamed = 100;
constexpr unsigned k_most = 999;
// Measured: nvJitLink 13.0 to 13.5 link PTX of these and of k_known, and of no other number in all
// of these versions. (sm_101 is the former name of sm_110.)
constexpr std::array k_known_before{20U, 21U, 30U, 32U, 35U, 37U, 50U, 52U,
                                    53U, 60U, 61U, 62U, 70U, 72U, 82U, 101U};
constexpr std::array k_tegra{87U, 88U};
constexpr unsigned k_oldest_exact = 90;    // first with `a` features
constexpr unsigned k_oldest_family = 100;  // first with `f` features

[[noreturn]] void reject(std::string_view text, std::string const& cause, std::string hint)
{
  throw usage_error({.message = "target '" + std::string(text) + "': " + cause,
                     .input = std::string(text),
                     .code = error_code::invalid_target,
                     .hint = std::move(hint)});
}

[[noreturn]] void reject_spelling(std::string_view text)
{
  auto const digits = text.find_first_of("0123456789");
  auto const guess = digits == std::string_view::npos ? "90" : text.substr(digits);
  reject(text, "not a target", "write it as nvcc does: sm_" + std::string(guess));
}

template <std::size_t size>
bool contains(std::array<unsigned, size> const& numbers, unsigned number)
{
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

/// "sm_75, sm_80, …"
std::string list_known()
{
  std::string names;
  for (auto const number : k_known) names += (names.empty() ? "" : ", ") + target(number).name();
  for (auto const& later : k_later) names += ", " + target(later.number).name();
  return names;
}

bool is_later(unsigned number)
{
  return std::any_of(k_later.begin(), k_later.end(),
                     [&](later_architecture const& later) { return later.number == number; });
}

void check_number(std::string_view text, unsigned number)
{
  if (number < k_oldest)
    reject(text, "older than CUDA 13 supports", "the oldest is " + target(k_oldest).name());
  auto const may_be_newer = number >= k_first_unnamed && number <= k_most;
  if (!may_be_newer && !contains(k_known, number))
    reject(text, "no such architecture", "the known ones are " + list_known());
}

void check_suffix(std::string_view text, unsigned number, char suffix)
{
  if (suffix == 'a' && number < k_oldest_exact)
    reject(text, "has no architecture-specific features", "write " + target(number).name());
  if (suffix == 'f' && number < k_oldest_family)
    reject(text, "has no family-specific features", "write " + target(number).name());
}

void check_architecture(target link_target)
{
  auto const text = link_target.name();
  if (link_target.suffix() != 0 && link_target.suffix() != 'a' && link_target.suffix() != 'f')
    reject_spelling(text);
  check_number(text, link_target.number());
  check_suffix(text, link_target.number(), link_target.suffix());
}

constexpr std::size_t count_targets()
{
  std::size_t count = 0;
  for (auto const number : k_known) count += number >= k_oldest_exact ? 2 : 1;
  return count;
}

constexpr auto list_targets()
{
  std::array<target, count_targets()> targets;
  std::size_t count = 0;
  for (auto const number : k_known) {
    targets[count++] = target(number);
    if (number >= k_oldest_exact) targets[count++] = target(number, 'a');
  }
  return targets;
}
constexpr auto k_targets = list_targets();

}  // namespace

char const* to_string(link_mode mode) noexcept
{
  switch (mode) {
    case link_mode::ptx:
      return "ptx";
    case link_mode::lto:
      return "lto";
    case link_mode::sass:
      return "sass";
  }
  return "unknown";
}

void check_link_mode(link_mode mode)
{
  if (mode == link_mode::ptx || mode == link_mode::lto || mode == link_mode::sass) return;
  auto const value = std::to_string(static_cast<int>(mode));
  throw usage_error(
      {.message = "link mode " + value + ": no such mode",
       .input = value,
       .code = error_code::unknown_link_mode,
       .hint = "the modes are <link_mode::ptx>, <link_mode::lto> and <link_mode::sass>"});
}

link_mode parse_link_mode(std::string_view text)
{
  if (text == "ptx") return link_mode::ptx;
  if (text == "lto") return link_mode::lto;
  if (text == "sass") return link_mode::sass;
  throw usage_error({.message = "link mode '" + std::string(text) + "': no such mode",
                     .input = std::string(text),
                     .code = error_code::unknown_link_mode,
                     .hint = "the modes are ptx, lto and sass"});
}

target::target(std::string_view text)
{
  constexpr std::string_view k_prefix = "sm_";
  if (!text.starts_with(k_prefix)) reject_spelling(text);
  auto const* const end = text.data() + text.size();
  auto const [rest, code] = std::from_chars(text.data() + k_prefix.size(), end, number_);
  if (code != std::errc{} || end - rest > 1) reject_spelling(text);
  if (rest != end) suffix_ = *rest;
  if (suffix_ != 0 && suffix_ != 'a' && suffix_ != 'f') reject_spelling(text);
  check_architecture(*this);
}

void check_target(target link_target)
{
  if (link_target == target())
    throw usage_error({.message = "no target is set",
                       .input = "target",
                       .code = error_code::invalid_target,
                       .hint = "set <link_options::target>, for example to sm_90"});
  check_architecture(link_target);
}

std::string target::name() const
{
  auto text = "sm_" + std::to_string(number_);
  if (suffix_ != 0) text += suffix_;
  return text;
}

bool target::links_for(target link_target) const noexcept
{
  if (suffix_ == 'a') return *this == link_target;
  auto const same_family = number_ / 10 == link_target.number_ / 10;
  if (suffix_ == 'f' && !same_family) return false;
  return number_ <= link_target.number_;
}

bool target::is_known() const noexcept
{
  auto const is_current = contains(k_known, number_) || is_later(number_);
  if (suffix_ == 'a') return number_ >= k_oldest_exact && is_current;
  if (suffix_ == 'f') return number_ >= k_oldest_family && is_current;
  return is_current || contains(k_known_before, number_);
}

unsigned target::first_cuda_minor() const noexcept
{
  for (auto const& later : k_later)
    if (later.number == number_) return later.minor;
  return contains(k_known, number_) ? 0 : k_newest_minor + 1;
}

std::vector<target> target::compatible_targets() const
{
  std::vector targets{*this};
  if (suffix_ != 0 || contains(k_tegra, number_)) return targets;
  for (auto number = k_known.rbegin(); number != k_known.rend(); ++number)
    if (*number < number_ && *number / 10 == number_ / 10 && !contains(k_tegra, *number))
      targets.emplace_back(*number);
  return targets;
}

std::span<target const> known_targets() noexcept
{
  return k_targets;
}

}  // namespace fatlink
