// SPDX-License-Identifier: Apache-2.0
// The interface of a module: its functions and variables, with the accesses that show their types,
// and as text. A name that the module has twice (an alias, or declared and defined) is listed once.
#include "fatlink/ptx_interface.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "ptx/ptx_accesses.hpp"
#include "ptx/ptx_source.hpp"
#include "util/limits.hpp"

namespace fatlink {
namespace {

std::string alignment_of(unsigned align, with_alignment alignment)
{
  if (alignment == with_alignment::no || align == 0) return {};
  std::string text = "align ";
  return (text += std::to_string(align)) += ' ';
}

std::string dimension(std::uint64_t count)
{
  std::string text = "[";
  return (text += std::to_string(count)) += ']';
}

std::string parameter_text(ptx_parameter const& parameter, with_alignment alignment)
{
  auto const text = alignment_of(parameter.align, alignment) + parameter.type;
  return parameter.count == 0 ? text : text + dimension(parameter.count);
}

/// "(b32, b64[2], ...)".
std::string parameter_text(std::vector<ptx_parameter> const& parameters, bool is_variadic,
                           with_alignment alignment)
{
  std::string text = "(";
  for (auto const& parameter : parameters) {
    if (text.size() > 1) text += ", ";
    text += parameter_text(parameter, alignment);
  }
  if (is_variadic) text += text.size() > 1 ? ", ..." : "...";
  return text + ")";
}

std::string dimension_of(ptx_variable const& variable)
{
  if (variable.is_unsized) return "[]";
  return variable.count == 0 ? std::string{} : dimension(variable.count);
}

}  // namespace

std::string to_string(ptx_function const& function, with_alignment alignment)
{
  if (function.is_untyped) return function.name + "(?)";
  auto const result =
      function.results.empty() ? "" : parameter_text(function.results, false, alignment) + " ";
  return result + function.name +
         parameter_text(function.parameters, function.is_variadic, alignment);
}

std::string to_string(ptx_variable const& variable, with_alignment alignment)
{
  return (variable.is_managed ? "managed " : "") + variable.space + " " +
         alignment_of(variable.align, alignment) + variable.type + " " + variable.name +
         dimension_of(variable);
}

}  // namespace fatlink

namespace fatlink::detail {
namespace {

/// `.alias name, target;`. The names are views of the PTX.
struct function_alias {
  std::string_view name = {};
  std::string_view target = {};
};

/// Adds a definition for each alias of a function in `definitions`. Before each it calls `count`
/// with the number of declarations that it adds.
void define_aliases(std::vector<function_alias> const& aliases,
                    std::vector<ptx_function>& definitions,
                    std::function<void(std::size_t)> const& count)
{
  if (aliases.empty()) return;
  std::map<std::string_view, std::size_t> functions;
  for (std::size_t i = 0; i < definitions.size(); ++i) functions.emplace(definitions[i].name, i);
  std::vector<ptx_function> others;
  for (auto const& [name, target] : aliases)
    if (auto const function = functions.find(target); function != functions.end()) {
      auto const& definition = definitions[function->second];
      count(1 + definition.results.size() + definition.parameters.size());
      others.emplace_back(definition).name = name;
    }
  for (auto& other : others) definitions.push_back(std::move(other));
}

/// Removes the .extern declarations of what the module itself defines.
void drop_defined(ptx_interface& interface)
{
  std::set<std::string_view> defined;
  for (auto const* list : {&interface.definitions, &interface.weak})
    for (auto const& function : *list) defined.insert(function.name);
  for (auto const& variable : interface.variables) defined.insert(variable.name);
  auto const is_defined = [&](auto const& symbol) { return defined.contains(symbol.name); };
  std::erase_if(interface.hooks, is_defined);
  std::erase_if(interface.external_variables, is_defined);
}

}  // namespace
}  // namespace fatlink::detail

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
    detail::define_aliases(aliases_, interface_.definitions,
                           [this](std::size_t count) { count_declarations(count); });
    detail::drop_defined(interface_);
    std::sort(interface_.hidden.begin(), interface_.hidden.end());
    describe_accesses();
    return std::move(interface_);
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
    else if (word == ".alias")
      read_alias();
    else if (word == "{")
      skip_block();
    else if (word == ";")
      linkage_ = linkage::internal;
  }

  // .alias NAME, FUNCTION;
  void read_alias()
  {
    auto const name = source_.checked_name(source_.next());
    if (source_.next() != ",") source_.fail("has an alias without its function");
    aliases_.push_back({name, source_.checked_name(source_.next())});
  }

  void add_variables(std::string_view space)
  {
    for (auto& variable : read_variables(source_, space)) {
      count_declarations(1);
      variable.is_weak = linkage_ == linkage::weak;
      if (linkage_ != linkage::external) count_shared(variable);
      if (linkage_ == linkage::external)
        interface_.external_variables.push_back(std::move(variable));
      else if (linkage_ != linkage::internal)
        interface_.variables.push_back(std::move(variable));
    }
    linkage_ = linkage::internal;
  }

  void count_shared(ptx_variable const& variable)
  {
    if (variable.space == "shared") interface_.shared_bytes += detail::bytes_of(variable);
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
    while (source_.peek().starts_with('.')) skip_attribute();
    if (source_.peek() == "(") std::tie(function.results, head.result_names) = read_results();
    auto const name = source_.checked_name(source_.next());
    function.name = std::string(name);
    if (function.name.empty()) source_.fail("has a function without a name");
    if (source_.peek() == "(") {
      auto list = read_parameters();
      function.parameters = std::move(list.parameters);
      function.is_variadic = list.is_variadic;
      head.parameter_names = std::move(list.names);
    }
    auto const linkage = std::exchange(linkage_, linkage::internal);
    function.is_weak = linkage == linkage::weak;
    auto const has_body = read_head(function);
    if (has_body) read_body(head);
    if (!has_body && linkage == linkage::external) source_.watch(name);
    count_declarations(1 + function.results.size() + function.parameters.size());
    add_function(std::move(function), is_kernel, has_body, linkage);
  }

  // .attribute(.unified(1, 2)) or another directive before the name of a function
  void skip_attribute()
  {
    if (source_.next() == ".attribute") (void)detail::read_attribute(source_);
  }

  void count_declarations(std::size_t count)
  {
    declarations_ += count;
    check_declarations();
  }
  void check_declarations() const
  {
    if (declarations_ + accesses_.size() > limits::k_declarations)
      source_.exceed("declares and calls more than " + std::to_string(limits::k_declarations) +
                     " functions, parameters and variables");
  }

  std::pair<std::vector<ptx_parameter>, std::vector<std::string_view>> read_results()
  {
    auto list = read_parameters();
    if (list.is_variadic) source_.fail("has a result of unknown size");
    return {std::move(list.parameters), std::move(list.names)};
  }

  /// Reads .reqntid and .maxntid and skips other directives. True: a body follows, and its opening
  /// brace was read.
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
      if (source_.skip_unterminated(word)) continue;
      if (word == ".shared" && statement.empty()) {
        for (auto const& variable : detail::read_variables(source_, "shared"))
          count_shared(variable);
        continue;
      }
      depth += word == "{" ? 1 : word == "}" ? -1 : 0;
      if (word == ";") {
        accesses_.read_statement(statement);
        check_declarations();
      }
      if (word == "{") accesses_.note_names(statement);
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
      source_.exceed("has a statement of more than " + std::to_string(limits::k_statement_words) +
                     " words");
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

  void add_function(ptx_function function, bool is_kernel, bool has_body, linkage linkage)
  {
    if (is_kernel && has_body)
      interface_.kernels.push_back(std::move(function));
    else if (has_body && linkage == linkage::visible)
      interface_.definitions.push_back(std::move(function));
    else if (has_body && linkage == linkage::weak)
      interface_.weak.push_back(std::move(function));
    else if (has_body && linkage == linkage::internal)
      interface_.hidden.push_back(std::move(function.name));
    else if (!has_body && linkage == linkage::external)
      interface_.hooks.push_back(std::move(function));
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

  // .param [.align N] .TYPE [.ptr [.SPACE] [.align N]] NAME[COUNT]; NAME[] stands for `...`
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
      source_.exceed("has a function of more than " + std::to_string(limits::k_parameters) +
                     " parameters");
    list.parameters.push_back(std::move(parameter));
    list.names.push_back(source_.checked_name(name));
  }

  /// Reads the COUNT after a "["; false for `[]`.
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
      parameter.align =
          static_cast<unsigned>(value);  // of a pointer: the alignment of its target, ignored
  }

  void describe_accesses()
  {
    for (auto& hook : interface_.hooks) {
      hook.is_unused = !source_.is_mentioned(hook.name);
      accesses_.describe_callee(hook);
    }
    for (auto& function : interface_.weak) accesses_.describe_calls(function);
    for (auto* list : {&interface_.definitions, &interface_.weak, &interface_.hooks})
      accesses_.drop_untyped(*list);
    for (auto& kernel : interface_.kernels)  // kernels declare the types of their parameters
      for (auto& parameter : kernel.parameters) parameter.accessed_as.clear();
  }

  ptx_source source_;
  std::vector<detail::function_alias> aliases_;
  linkage linkage_ = linkage::internal;
  detail::ptx_accesses accesses_;
  ptx_interface interface_;
  std::size_t declarations_ = 0;  ///< functions, parameters and variables
};

}  // namespace

ptx_interface read_ptx_interface(std::string_view ptx, std::string_view name)
{
  return interface_reader(ptx, name).read();
}

}  // namespace fatlink
