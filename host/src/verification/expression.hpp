// SPDX-License-Identifier: Apache-2.0
// An expression in x, or in named variables, evaluated in double by muParser through its C
// interface. Names may have dots: "state.scale". muParser is loaded
// with the first expression only: most uses of fatlink evaluate none, and muParser brings the
// OpenMP run-time into the host's process. Threads: an expression is used by one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fatlink::detail {

/// An expression that muParser cannot evaluate; what() is its message.
struct expression_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A variable of an expression.
struct named_value {
  std::string name = {};    ///< letters, digits, "_" and "."; not beginning with a digit or "."
  double* value = nullptr;  ///< must outlive the expression
};

/// The functions that an expression may call.
std::vector<std::string> const& expression_functions();

/// "did you mean sin? " of the message of an expression_error, which quotes the word that muParser
/// does not know; empty where no function is similar.
std::string similar_function(std::string_view message);

class expression {
 public:
  /// @throws unavailable_error muParser is not installed.
  /// @throws expression_error longer than 4,096 characters, or parentheses nested deeper than 64.
  explicit expression(std::string const& text);
  /// In `variables` instead of x. @throws as above; expression_error a name that is a function's.
  expression(std::string const& text, std::span<named_value const> variables);
  ~expression();
  expression(expression const&) = delete;
  expression& operator=(expression const&) = delete;

  /// @throws expression_error the expression has an error; checked here, not by the constructor.
  double evaluate(double x);
  /// As above, with the variables' present values.
  double evaluate();

 private:
  struct releaser {
    using pointer = void*;
    void operator()(void* parser) const noexcept;
  };
  void define(std::string const& text);
  void check();

  double x_ = 0;
  std::size_t longest_ = 0;  ///< characters of the expression, or of a variable's longer name
  std::unique_ptr<void, releaser> parser_;
};

}  // namespace fatlink::detail
