// SPDX-License-Identifier: Apache-2.0
// Targets (GPU architectures, spelled as in nvcc: sm_90, sm_90a, sm_100f) and link modes. The rules
// are those of the CUDA C++ Programming Guide, "Feature sets". PTX and LTO-IR: a generic entry
// links for its own and every newer target, an `f` entry for its family, an `a` entry for exactly
// its target. SASS links for exactly its target, including the suffix.
#pragma once

#include <compare>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// What is linked. `ptx`: compiled PTX; `lto`: LTO-IR, which is optimised across inputs; `sass`:
/// SASS for exactly the target of the link, which needs no compiler.
enum class link_mode { ptx, lto, sass };

/// "ptx", "lto" or "sass"; "unknown" for a value outside the enumeration, as in every to_string.
char const* to_string(link_mode mode) noexcept;

/// Checks `mode`. @throws usage_error it is a value outside the enumeration.
void check_link_mode(link_mode mode);

/// Parses a link mode. @throws usage_error `text` is not "ptx", "lto" or "sass".
link_mode parse_link_mode(std::string_view text);

/// A GPU architecture. Text converts implicitly, so that `{.target = "sm_90"}` can be written.
class target {
 public:
  /// No target: sm_0.
  constexpr target() noexcept = default;
  /// A target with a number, such as 90 of sm_90, and a suffix: 0, 'a' or 'f'. The values are not
  /// checked here; links check them (check_target).
  constexpr explicit target(unsigned number, char suffix = 0) noexcept
      : number_(number), suffix_(suffix)
  {
  }

  /// Parses "sm_90", "sm_90a", "sm_100f".
  /// @throws usage_error `text` does not have this form ("90", "sm_1"), or names an architecture
  ///   that is too old for CUDA 13 (below sm_75) or unknown and below sm_100; the hint shows the
  ///   form. The check is needed because nvJitLink ends the process on `sm_1`. Unknown
  ///   architectures from sm_100 on are accepted, because a newer CUDA may have them
  ///   (first_cuda_minor()).
  target(char const* text) : target(text == nullptr ? std::string_view() : std::string_view(text))
  {
  }
  /// As from `char const*`.
  target(std::string const& text) : target(std::string_view(text)) {}
  /// As from `char const*`.
  target(std::string_view text);

  /// The number: 90 of sm_90a.
  [[nodiscard]] unsigned number() const noexcept { return number_; }
  /// The suffix: the letter a of sm_90a; 0 if there is none.
  [[nodiscard]] char suffix() const noexcept { return suffix_; }
  /// The text form: "sm_90a".
  [[nodiscard]] std::string name() const;

  /// Whether code compiled for *this* (a PTX or LTO-IR entry) links for `link_target`.
  [[nodiscard]] bool links_for(target link_target) const noexcept;

  /// Whether some nvJitLink of CUDA 13 accepts PTX for this architecture. This is true for the
  /// architectures of CUDA 13, including those added after 13.0 (sm_107), and for older ones down
  /// to sm_20. nvJitLink 13.0 ignores or refuses entries for others (sm_74, sm_83).
  [[nodiscard]] bool is_known() const noexcept;

  /// The lowest minor version of CUDA 13 whose nvJitLink links for this target: 0 for most, 4 for
  /// sm_107. For a target that this fatlink does not know, it is the version after the newest
  /// measured one. An older nvJitLink may end its process.
  [[nodiscard]] unsigned first_cuda_minor() const noexcept;

  /// The targets whose executable cubins run on GPUs of this target: the target itself, then the
  /// older generic ones of the same major version, newest first (CUDA C++ Programming Guide,
  /// "Binary Compatibility"). For sm_89: sm_89, sm_86, sm_80. For targets with a suffix, and for
  /// Tegra (sm_87, sm_88), only the target itself.
  [[nodiscard]] std::vector<target> compatible_targets() const;

  /// Compares numbers, then suffixes.
  // clang-tidy 14 takes the 0 of a rewritten a < b for a pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend constexpr auto operator<=>(target const&, target const&) = default;

 private:
  unsigned number_ = 0;
  char suffix_ = 0;
};

/// Checks a target; preflight and every link call this.
/// @throws usage_error `link_target` cannot be linked for; the rules are those of the constructor
///   from text.
void check_target(target link_target);

/// The targets that every CUDA 13 knows, oldest first: each generic target, followed by its
/// architecture-specific one. Family-specific targets (sm_100f) are not listed.
std::span<target const> known_targets() noexcept;

}  // namespace fatlink
