// SPDX-License-Identifier: Apache-2.0
// The types that a module's ld.param, st.param and call instructions name for parameters and
// results. One pass over the statements of each body, in time linear in the text; what is not one
// of these instructions, in the form that compilers write, is ignored.
// Source: PTX ISA 9.0, "Data Movement Instructions"; observed with nvcc 13.0.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/ptx_interface.hpp"

namespace fatlink::detail {

enum class scalar_kind { unknown, floating, narrow_integer, integer };
/// "f32" is floating, "s8" and "u16" are narrow integers, "b32" and "u64" integers.
scalar_kind kind_of(std::string_view type);

/// A function's head with the names of its parameters and results, which point into the text.
struct named_function {
  ptx_function function;
  std::vector<std::string_view> result_names;
  std::vector<std::string_view> parameter_names;
};

class ptx_accesses {
 public:
  void begin_body(named_function const& head);
  /// One instruction or directive of a body, without its ";".
  void read_statement(std::vector<std::string_view> const& words);
  /// Writes what the body's instructions told of `head` into it.
  void end_body(named_function& head) const;
  /// Writes what the module's calls told of `hook` into it.
  void describe_callee(ptx_function& hook) const;
  /// Forgets integers where the module's compiler writes b32 for floats too. To be called last.
  void drop_untyped(std::vector<ptx_function>& functions) const;
  /// Names, parameters and results that are kept: what memory grows with.
  [[nodiscard]] std::size_t size() const noexcept
  {
    return stored_.size() + returned_.size() + called_size_;
  }

 private:
  /// A type, or nothing once two of different kinds were seen.
  class observed_type {
   public:
    void observe(std::string_view type);
    [[nodiscard]] std::string text() const { return disagree_ ? std::string{} : type_; }

   private:
    std::string type_;
    bool disagree_ = false;
  };
  struct called_function {
    std::vector<observed_type> results;
    std::vector<observed_type> parameters;
  };
  using words = std::vector<std::string_view>;

  void read_move(words const& statement, std::size_t at);
  void read_call(words const& statement, std::size_t at);
  void declare(words const& statement, std::size_t at);

  std::map<std::string_view, observed_type> own_;        // of the body's function
  std::map<std::string_view, std::string_view> stored_;  // what a call will pass, by its name
  std::map<std::string_view, observed_type*> returned_;  // what a call gave, by its name
  std::map<std::string, called_function, std::less<>> called_;
  std::size_t called_size_ = 0;  // functions in called_, and their parameters
  bool is_typed_ = false;        // f32, u32 and so on were seen, so that b32 is no float
};

}  // namespace fatlink::detail
