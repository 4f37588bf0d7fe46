// SPDX-License-Identifier: Apache-2.0
// What the vendor's compilers have in common once they are opened: how their file is found, and
// which one it is. Threads: safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "toolkit/opened_library.hpp"

namespace fatlink::detail {

/// The base of `Compiler`, which has a static library(), and load(candidate), which opens a file
/// and returns why it cannot be used.
template <typename Compiler>
class opened_compiler {
 public:
  /// Opens the first file of the search. @throws unavailable_error no file can be used; its log
  ///   lists the candidates.
  static std::shared_ptr<Compiler const> open()
  {
    std::vector<library_candidate> tried;
    if (auto opened = find(tried)) return opened;
    refuse_library(Compiler::library(), tried);
  }

  /// Opens `file`. @throws unavailable_error it cannot be used.
  static std::shared_ptr<Compiler const> open(std::string const& file)
  {
    library_candidate candidate{file, "the caller", {}};
    if (auto opened = attempt(candidate)) return opened;
    refuse_library(Compiler::library(), candidate);
  }

  /// As open(), and sets `tried` to all candidates; null if none can be used.
  static std::shared_ptr<Compiler const> find(std::vector<library_candidate>& tried)
  {
    tried = list_candidates(Compiler::library());
    for (auto& candidate : tried)
      if (auto opened = attempt(candidate)) return opened;
    return nullptr;
  }

  [[nodiscard]] std::string const& path() const noexcept { return opened_.path; }
  [[nodiscard]] std::string const& reason() const noexcept { return opened_.reason; }
  [[nodiscard]] std::string const& identity() const noexcept { return opened_.identity; }
  [[nodiscard]] int major() const noexcept { return major_; }
  [[nodiscard]] int minor() const noexcept { return minor_; }

 protected:
  opened_compiler() = default;

  opened_library opened_ = {};
  int major_ = 0;
  int minor_ = 0;

 private:
  /// Null, with the reason in `candidate`, if the file cannot be used.
  static std::shared_ptr<Compiler const> attempt(library_candidate& candidate)
  {
    std::shared_ptr<Compiler> compiler(new Compiler);
    candidate.outcome = compiler->load(candidate);
    if (!candidate.outcome.empty()) return nullptr;
    candidate.outcome = "chosen";
    return compiler;
  }
};

}  // namespace fatlink::detail
