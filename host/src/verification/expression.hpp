// SPDX-License-Identifier: Apache-2.0
// An expression in x, evaluated in double by muParser, through its C interface. muParser is opened
// when the first expression is: most uses of fatlink evaluate none, and the OpenMP run-time
// that comes with it has no place in other people's processes.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

namespace fatlink::detail {

/// What muParser says is wrong with an expression.
struct expression_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class expression {
 public:
  /// @throws unavailable_error muParser is not installed.
  /// @throws expression_error longer than 4,096 characters, or parentheses nested deeper than 64.
  explicit expression(std::string const& text);
  ~expression();
  expression(expression const&) = delete;
  expression& operator=(expression const&) = delete;

  /// @throws expression_error
  double at(double x);

 private:
  struct releaser {
    using pointer = void*;
    void operator()(void* parser) const noexcept;
  };
  void check();
  void define_mathematics();
  void define_roundings();

  double x_ = 0;
  std::unique_ptr<void, releaser> parser_;
};

}  // namespace fatlink::detail
