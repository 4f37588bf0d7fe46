// SPDX-License-Identifier: Apache-2.0
// The words of messages and hints. A text of the library names what the caller can set in C++
// words between < and >: "raise <linker_settings::time_limit>". Whoever shows it reads the words of
// the interface that was called: C++, C, the program's options, or Python. wording.cpp has the
// table; tests/source/test_hints.py checks that every name in a text is in it.
//
// Errors put their texts in words when they are made (fatlink::error); findings call in_words.
// Threads: the wording is that of the thread, or else of the process.
#pragma once

#include <string>

namespace fatlink::detail {

/// Whose words a text uses.
enum class wording {
  cxx,
  c,
  program,
  python,
  none,  ///< texts stay as they are written; another process puts them in words
};

/// The words of threads without a wording_scope; wording::cxx at first.
void set_process_wording(wording words) noexcept;

/// The words that in_words uses in this thread.
wording current_wording() noexcept;

/// While it lives, this thread uses `words`. A thread that works for another one begins with the
/// current_wording of that one.
class wording_scope {
 public:
  explicit wording_scope(wording words) noexcept;
  ~wording_scope();
  wording_scope(wording_scope const&) = delete;
  wording_scope& operator=(wording_scope const&) = delete;

 private:
  int before_;
};

/// `text` with each name between < and > in current_wording. What the table does not have stays.
std::string in_words(std::string text);

}  // namespace fatlink::detail
