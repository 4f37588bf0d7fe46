// SPDX-License-Identifier: Apache-2.0
// The types with which a module's ld.param, st.param and call instructions access parameters and
// results. Reads the statements of each body once, in linear time; ignores every other instruction,
// and forms of these that compilers do not write.
// Source: PTX ISA 9.0, "Data Movement Instructions"; observed with nvcc 13.0.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/ptx_interface.hpp"

namespace fatlink::detail {

enum class scalar_kind { unknown, floating, narrow_integer, integer };
/// "f32" is floating, "s8" and "u16" are narrow integers, "b32" and "u64" integers.
scalar_kind kind_of(std::string_view type);

/// A function with the names of its parameters and results, which point into the text.
struct named_function {
  ptx_function function;
  std::vector<std::string_view> result_names;
  std::vector<std::string_view> parameter_names;
};

class ptx_accesses {
 public:
  void begin_body(named_function const& head);
  /// Reads one instruction or directive of a body, without its ";".
  void read_statement(std::vector<std::string_view> const& words);
  /// Notes the names of a part of a statement other than a call or a declaration: before
  /// the braces of a vector, for one.
  void note_names(std::vector<std::string_view> const& part);
  /// Sets accessed_as of `head`'s parameters and results from the body's instructions.
  void end_body(named_function& head) const;
  /// Sets accessed_as of `hook`'s parameters and results from the module's calls.
  void describe_callee(ptx_function& hook) const;
  /// Sets is_unpassed of `definition`'s parameters from the module's calls.
  void describe_calls(ptx_function& definition) const;
  /// Clears integer types if the module's compiler writes b32 also for floats. Call it last.
  void drop_untyped(std::vector<ptx_function>& functions) const;
  /// Number of names, parameters and results kept; memory grows with it.
  [[nodiscard]] std::size_t size() const noexcept
  {
    return floats_.size() + stored_.size() + returned_.size() + unset_.size() + called_size_;
  }

 private:
  /// A type; empty after types of two different kinds were observed.
  class observed_type {
   public:
    void observe(std::string_view type);
    [[nodiscard]] std::string text() const { return disagree_ ? std::string{} : type_; }

   private:
    std::string type_;
    bool disagree_ = false;
  };
  struct called_parameter {
    observed_type type;
    bool is_unpassed = false;  // a call stores nothing for it
  };
  struct called_function {
    std::vector<observed_type> results;
    std::vector<called_parameter> parameters;
  };
  struct declared_name {
    observed_type type;
    bool is_mentioned = false;  // after the head of the function
  };
  using words = std::vector<std::string_view>;

  void declare_registers(words const& statement, std::size_t index);
  [[nodiscard]] std::string_view type_of_move(std::string_view stated,
                                              std::string_view value) const;
  void read_move(words const& statement, std::size_t index);
  void read_call(words const& statement, std::size_t index);
  void declare(words const& statement, std::size_t index);

  std::map<std::string_view, declared_name> declared_;   // of the body's function, by name
  std::map<std::string_view, std::string_view> stored_;  // arguments of the next call, by name
  std::map<std::string_view, observed_type*> returned_;  // results of calls, by name
  std::map<std::string_view, std::string_view> floats_;  // registers of .f32 and .f64, by name or
                                                         // by what their numbers follow
  std::set<std::string_view> unset_;  // declared for the next call, and not mentioned since
  std::map<std::string, called_function, std::less<>> called_;
  std::size_t called_size_ = 0;  // functions in called_ and their parameters
  bool is_typed_ = false;        // f32, u32 etc. were observed, so b32 is not a float
};

}  // namespace fatlink::detail
