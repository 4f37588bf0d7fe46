// SPDX-License-Identifier: Apache-2.0
// What every function of the C interface does: it turns exceptions into error objects, checks the
// pointers that it is given, and reads and copies texts. Threads: no shared state.
#pragma once

#include <cxxabi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/wording.hpp"
#include "fatlink/c/error.h"
#include "fatlink/finding.hpp"

/// Findings with their files as C takes them.
struct fatlink_findings {
  explicit fatlink_findings(std::vector<fatlink::finding> findings);

  std::vector<fatlink::finding> list;
  std::vector<std::vector<char const*>> files;  ///< of each finding; point into `list`
};

/// Points to its texts, so that the error of a host without memory needs none.
struct fatlink_error {
  fatlink_error_kind kind = FATLINK_ERROR_DEFECT;
  char const* stage = "";
  char const* code = "";
  char const* message = "";
  char const* input = "";
  char const* hint = "";
  char const* log = "";
  fatlink_findings const* findings = nullptr;
};

namespace fatlink::c {

/// The error that describes the exception that is being handled.
fatlink_error* current_error() noexcept;

/// The words that fatlink_set_wording set.
detail::wording error_wording() noexcept;

/// Calls `work`; NULL, or the error that describes what it threw. The exception by which a thread
/// is cancelled passes.
template <typename Work>
fatlink_error* guarded(Work const& work)
try {
  detail::wording_scope const scope(error_wording());
  work();
  return nullptr;
} catch (abi::__forced_unwind const&) {
  throw;
} catch (...) {
  return current_error();
}

/// Calls `work`; what it returns, or `otherwise` if it throws.
template <typename Work, typename Result>
Result value_or(Result otherwise, Work const& work)
try {
  return work();
} catch (abi::__forced_unwind const&) {
  throw;
} catch (...) {
  return otherwise;
}

/// @throws usage_error always: `parameter` is NULL.
[[noreturn]] void fail_null(std::string const& parameter);

/// The object at `pointer`. @throws usage_error it is NULL.
template <typename Object>
Object& required(Object* pointer, char const* parameter)
{
  if (pointer == nullptr) fail_null(parameter);
  return *pointer;
}

/// The place of a result, set to NULL or 0. @throws usage_error `pointer` is NULL.
template <typename Result>
Result& output(Result* pointer, char const* parameter)
{
  return required(pointer, parameter) = {};
}

/// A text. @throws usage_error it is NULL.
std::string required_text(char const* text, char const* parameter);

/// @throws usage_error always: no memory holds `count` entries of `parameter`.
[[noreturn]] void fail_count(std::size_t count, char const* parameter);

/// `count` objects. @throws usage_error `pointer` is NULL, and `count` is not 0; or `count` is
///   larger than any memory.
template <typename Object>
std::span<Object> list(Object* pointer, std::size_t count, char const* parameter)
{
  if (pointer == nullptr && count != 0) fail_null(parameter);
  // NOLINTNEXTLINE(bugprone-sizeof-expression): an object may be a pointer
  if (count > PTRDIFF_MAX / sizeof(Object)) fail_count(count, parameter);
  return {pointer, count};
}

/// Texts. @throws usage_error one of them or the list is NULL.
std::vector<std::string> texts(char const* const* pointer, std::size_t count,
                               char const* parameter);

/// `text`; empty for NULL.
inline std::string text_or_empty(char const* text)
{
  return text == nullptr ? std::string() : std::string(text);
}

/// @throws usage_error `index` is not below `count`, the number of `objects`.
void check_index(std::size_t index, std::size_t count, char const* objects);

/// The warnings, one on each line.
inline std::string lines_of(std::vector<std::string> const& warnings)
{
  std::string lines;
  for (auto const& warning : warnings) lines += (lines.empty() ? "" : "\n") + warning;
  return lines;
}

/// A copy of `text`, to be freed with fatlink_text_free.
inline char* copy_text(std::string const& text)
{
  auto* const copy = new char[text.size() + 1];
  text.copy(copy, text.size());
  copy[text.size()] = '\0';
  return copy;
}

}  // namespace fatlink::c
