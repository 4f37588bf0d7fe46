// SPDX-License-Identifier: Apache-2.0
// Targets (GPU architectures, spelled as nvcc does: sm_90, sm_90a, sm_100f) and link modes.
// Rules: CUDA C++ Programming Guide, "Feature sets": a generic entry links for its own and
// every newer target, an `f` entry for its family, an `a` entry for the exact target. That is of
// PTX and LTO-IR; SASS links for exactly its target, suffix included.
#pragma once

#include <compare>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// What is linked: compiled PTX; LTO-IR, which is optimised across inputs; or SASS for exactly the
/// link's target, which needs no compiler.
enum class link_mode { ptx, lto, sass };

/// "ptx", "lto" or "sass"; "unknown" for a value outside the enumeration, as in every to_string.
char const* to_string(link_mode mode) noexcept;

/// @throws usage_error a value outside of the enumeration.
void check_link_mode(link_mode mode);

/// @throws usage_error anything but "ptx", "lto" or "sass".
link_mode parse_link_mode(std::string_view text);

/// A GPU architecture. Implicit from text so that `{.target = "sm_90"}` reads well.
class target {
 public:
  /// No target: sm_0.
  constexpr target() noexcept = default;
  /// A number as in sm_90 and a suffix: 0, 'a' or 'f'. Not checked here; links check it
  /// (check_target).
  constexpr explicit target(unsigned number, char suffix = 0) noexcept
      : number_(number), suffix_(suffix)
  {
  }

  /// Parses "sm_90", "sm_90a", "sm_100f".
  /// @throws usage_error other spellings ("90", "sm_1"), architectures older than CUDA 13 knows
  ///   (below sm_75), and unknown ones below sm_100; the hint gives the spelling. nvJitLink ends
  ///   the process on `sm_1`, so unchecked text must not reach it. Others that this fatlink does
  ///   not know may be of a newer CUDA (first_cuda_minor()).
  target(char const* text) : target(text == nullptr ? std::string_view() : std::string_view(text))
  {
  }
  /// As from `char const*`.
  target(std::string const& text) : target(std::string_view(text)) {}
  /// As from `char const*`.
  target(std::string_view text);

  /// 90 of sm_90a.
  [[nodiscard]] unsigned number() const noexcept { return number_; }
  /// The letter a of sm_90a; 0 if there is none.
  [[nodiscard]] char suffix() const noexcept { return suffix_; }
  /// "sm_90a"
  [[nodiscard]] std::string name() const;

  /// Whether code compiled for *this* (a PTX or LTO-IR entry) links for `link_target`.
  [[nodiscard]] bool links_for(target link_target) const noexcept;

  /// Whether nvJitLinks of CUDA 13 accept PTX of this architecture: those of CUDA 13, also ones
  /// that came with a later version than 13.0 (sm_107), and older ones down to sm_20.
  /// nvJitLink 13.0 ignores the entries of others (sm_74, sm_83) or refuses them.
  [[nodiscard]] bool is_known() const noexcept;

  /// The least minor version of CUDA 13 whose nvJitLink links for this target: 0 for most, 4 for
  /// sm_107; for a target that this fatlink does not know that after the newest that was measured.
  /// An older nvJitLink may end its process.
  [[nodiscard]] unsigned first_cuda_minor() const noexcept;

  /// The targets whose executable cubins run on GPUs of this one: itself, then the older generic
  /// ones of the same major version, newest first, as the CUDA C++ Programming Guide ("Binary
  /// Compatibility") states it. sm_89: sm_89, sm_86, sm_80. Only itself: of targets with a suffix,
  /// and of those of Tegra (sm_87, sm_88), whose cubins are for no other GPU.
  [[nodiscard]] std::vector<target> compatible_targets() const;

  /// Compares numbers, then suffixes.
  // clang-tidy 14 takes the 0 of a rewritten a < b for a pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend constexpr auto operator<=>(target const&, target const&) = default;

 private:
  unsigned number_ = 0;
  char suffix_ = 0;
};

/// Called by preflight and by every link.
/// @throws usage_error no link is possible for `link_target`, as in the constructor from text:
///   nvJitLink ends the process on sm_1.
void check_target(target link_target);

/// The targets of every CUDA 13, oldest first: each generic one, followed by its
/// architecture-specific one. Family-specific targets (sm_100f) are left out.
std::span<target const> known_targets() noexcept;

}  // namespace fatlink
