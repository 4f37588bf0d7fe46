// SPDX-License-Identifier: Apache-2.0
#include "fatlink/ptx_interface.hpp"

#include <set>
#include <tuple>
#include <utility>

#include "ptx/ptx_accesses.hpp"
#include "ptx/ptx_source.hpp"
#include "ptx/ptx_variables.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

using detail::named_function;
using detail::ptx_source;

enum class linkage { internal, visible, external, weak };

struct parameter_list {
  std::vector<ptx_parameter> parameters;
  std::vector<std::string_view> names;
  bool is_variadic = false;
};

class interface_reader {
 public:
  interface_reader(std::string_view ptx, std::string_view name) : source_(ptx, name) {}

  ptx_interface read()
  {
    if (source_.next() != ".version") source_.fail("does not begin with .version");
    while (!source_.at_end()) read_statement();
    drop_defined_here();
    describe_accesses();
    return std::move(found_);
  }

 private:
  void read_statement()
  {
    auto const word = source_.next();
    if (word == ".visible") return void(linkage_ = linkage::visible);
    if (word == ".extern") return void(linkage_ = linkage::external);
    if (word == ".weak" || word == ".common") return void(linkage_ = linkage::weak);
    if (word == ".entry")
      read_function(true);
    else if (word == ".func")
      read_function(false);
    else if (word == ".global" || word == ".const" || word == ".shared")
      add_variables(word.substr(1));
    else if (word == "{")
      skip_block();
    else if (word == ";")
      linkage_ = linkage::internal;
  }

  void add_variables(std::string_view space)
  {
    for (auto& variable : read_variables(source_, space)) {
      count_declarations(1);
      variable.is_weak = linkage_ == linkage::weak;
      if (linkage_ == linkage::external)
        found_.external_variables.push_back(std::move(variable));
      else if (linkage_ != linkage::internal)
        found_.variables.push_back(std::move(variable));
    }
    linkage_ = linkage::internal;
  }

  void skip_block()
  {
    for (int depth = 1; depth > 0;) {
      if (source_.at_end()) source_.fail("ends inside a block");
      auto const word = source_.next();
      depth += word == "{" ? 1 : word == "}" ? -1 : 0;
    }
    linkage_ = linkage::internal;
  }

  void read_function(bool is_kernel)
  {
    named_function head;
    auto& function = head.function;
    if (source_.peek() == "(") std::tie(function.results, head.result_names) = read_results();
    function.name = std::string(source_.checked_name(source_.next()));
    if (function.name.empty()) source_.fail("has a function without a name");
    if (source_.peek() == "(") {
      auto list = read_parameters();
      function.parameters = std::move(list.parameters);
      function.is_variadic = list.is_variadic;
      head.parameter_names = std::move(list.names);
    }
    auto const where = linkage_;
    function.is_weak = where == linkage::weak;
    auto const has_body = read_head(function);
    if (has_body) read_body(head);
    linkage_ = linkage::internal;
    count_declarations(1 + function.results.size() + function.parameters.size());
    file_away(std::move(function), is_kernel, has_body, where);
  }

  void count_declarations(std::size_t count)
  {
    declarations_ += count;
    check_declarations();
  }
  void check_declarations() const
  {
    if (declarations_ + accesses_.size() > limits::k_declarations)
      source_.exceed(
          detail::format("declares and calls more than {} functions, parameters and "
                         "variables",
                         limits::k_declarations));
  }

  std::pair<std::vector<ptx_parameter>, std::vector<std::string_view>> read_results()
  {
    auto list = read_parameters();
    if (list.is_variadic) source_.fail("has a result of unknown size");
    return {std::move(list.parameters), std::move(list.names)};
  }

  /// Reads .reqntid and .maxntid, skips other directives; true past the brace that opens a body.
  bool read_head(ptx_function& function)
  {
    while (!source_.at_end()) {
      auto const word = source_.next();
      if (word == ".reqntid") function.required_block = read_extent();
      if (word == ".maxntid") {
        auto const [x, y, z] = read_extent();
        function.max_block_threads = x * y * z;
      }
      if (word == ";") return false;
      if (word == "{") return true;
    }
    source_.fail("ends inside a function's head");
  }

  void read_body(named_function& head)
  {
    accesses_.begin_body(head);
    std::vector<std::string_view> statement;
    for (int depth = 1; depth > 0;) {
      if (source_.at_end()) source_.fail("ends inside a block");
      auto const word = source_.next();
      depth += word == "{" ? 1 : word == "}" ? -1 : 0;
      if (word == ";") {
        accesses_.read_statement(statement);
        check_declarations();
      }
      if (word == ";" || word == "{" || word == "}" || word == ":")
        statement.clear();
      else
        append(statement, word);
    }
    accesses_.end_body(head);
  }

  void append(std::vector<std::string_view>& statement, std::string_view word)
  {
    if (statement.size() == limits::k_statement_words)
      source_.exceed(
          detail::format("has a statement of more than {} words", limits::k_statement_words));
    statement.push_back(word);
  }

  // X[, Y[, Z]]
  std::array<unsigned, 3> read_extent()
  {
    std::array<unsigned, 3> extent{1, 1, 1};
    for (std::size_t i = 0; i < extent.size(); ++i) {
      extent[i] = static_cast<unsigned>(source_.read_number(source_.next()));
      if (source_.peek() != ",") break;
      source_.next();
    }
    return extent;
  }

  void file_away(ptx_function function, bool is_kernel, bool has_body, linkage where)
  {
    if (is_kernel && has_body)
      found_.kernels.push_back(std::move(function));
    else if (has_body && where == linkage::visible)
      found_.definitions.push_back(std::move(function));
    else if (has_body && where == linkage::weak)
      found_.weak.push_back(std::move(function));
    else if (!has_body && where == linkage::external)
      found_.hooks.push_back(std::move(function));
  }

  parameter_list read_parameters()
  {
    parameter_list list;
    source_.next();  // "("
    while (source_.peek() != ")") {
      if (source_.at_end()) source_.fail("ends inside a parameter list");
      if (list.is_variadic) source_.fail("has an unsized parameter that is not the last");
      if (source_.peek() == ",") source_.next();
      read_parameter(list);
    }
    source_.next();
    return list;
  }

  // .param [.align N] .TYPE [.ptr [.SPACE] [.align N]] NAME[COUNT]; NAME[] is `...`
  void read_parameter(parameter_list& list)
  {
    ptx_parameter parameter;
    std::string_view name;
    for (auto word = source_.peek(); word != "," && word != ")"; word = source_.peek()) {
      if (source_.at_end()) source_.fail("ends inside a parameter");
      source_.next();
      if (word == ".ptr")
        parameter.is_pointer = true;
      else if (word == ".align")
        read_align(parameter);
      else if (word == "[")
        list.is_variadic = !read_count(parameter);
      else if (word.starts_with('.') && word != ".param" && word != ".reg" && !parameter.is_pointer)
        parameter.type = std::string(source_.checked_type(word.substr(1)));
      else if (!word.starts_with('.') && word != "]")
        name = word;
    }
    if (parameter.type.empty()) source_.fail("has a parameter without a type");
    if (list.is_variadic) return;
    if (list.parameters.size() == limits::k_parameters)
      source_.exceed(
          detail::format("has a function of more than {} parameters", limits::k_parameters));
    list.parameters.push_back(std::move(parameter));
    list.names.push_back(source_.checked_name(name));
  }

  /// The COUNT after a "["; false for `[]`.
  bool read_count(ptx_parameter& parameter)
  {
    if (source_.peek() == "]") return false;
    parameter.count = source_.read_number(source_.next());
    return true;
  }

  void read_align(ptx_parameter& parameter)
  {
    auto const value = source_.read_number(source_.next());
    if (!parameter.is_pointer)
      parameter.align = static_cast<unsigned>(value);  // else: of what it points at
  }

  /// An .extern that the module itself defines is not asked of others.
  void drop_defined_here()
  {
    std::set<std::string_view> defined;
    for (auto const* list : {&found_.definitions, &found_.weak})
      for (auto const& function : *list) defined.insert(function.name);
    for (auto const& variable : found_.variables) defined.insert(variable.name);
    auto const is_defined = [&](auto const& symbol) { return defined.contains(symbol.name); };
    std::erase_if(found_.hooks, is_defined);
    std::erase_if(found_.external_variables, is_defined);
  }

  void describe_accesses()
  {
    for (auto& hook : found_.hooks) accesses_.describe_callee(hook);
    for (auto* list : {&found_.definitions, &found_.weak, &found_.hooks})
      accesses_.drop_untyped(*list);
    for (auto& kernel : found_.kernels)  // a kernel's parameters have their types
      for (auto& parameter : kernel.parameters) parameter.accessed_as.clear();
  }

  ptx_source source_;
  linkage linkage_ = linkage::internal;
  detail::ptx_accesses accesses_;
  ptx_interface found_;
  std::size_t declarations_ = 0;  ///< functions, parameters and variables
};

}  // namespace

ptx_interface read_ptx_interface(std::string_view ptx, std::string_view name)
{
  return interface_reader(ptx, name).read();
}

}  // namespace fatlink
