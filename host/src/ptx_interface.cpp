// SPDX-License-Identifier: Apache-2.0
#include "fatlink/ptx_interface.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "detail/format.hpp"
#include "detail/ptx_tokens.hpp"

namespace fatlink {
namespace {

using detail::ptx_tokens;

enum class linkage { internal, visible, external, weak };

class interface_reader {
 public:
  interface_reader(std::string_view ptx, std::string_view name) : tokens_(ptx), name_(name) {}

  ptx_interface read()
  {
    if (tokens_.next() != ".version") fail("does not begin with .version");
    while (!tokens_.at_end()) read_statement();
    drop_defined_hooks();
    return std::move(found_);
  }

 private:
  [[noreturn]] void fail(std::string const& why) const
  {
    throw file_error(stage::fatbin, {.message = detail::format("{}: its PTX {} (line {})", name_,
                                                               why, tokens_.line()),
                                     .input = std::string(name_),
                                     .code = {},
                                     .log = {},
                                     .hint = "build the fatbin again with nvcc"});
  }

  void read_statement()
  {
    auto const word = tokens_.next();
    if (word == ".visible" || word == ".common") return void(linkage_ = linkage::visible);
    if (word == ".extern") return void(linkage_ = linkage::external);
    if (word == ".weak") return void(linkage_ = linkage::weak);
    if (word == ".entry")
      read_function(true);
    else if (word == ".func")
      read_function(false);
    else if (word == ".global" || word == ".const" || word == ".shared")
      read_variable();
    else if (word == "{")
      skip_block();
    else if (word == ";")
      linkage_ = linkage::internal;
  }

  // [.align N] [.attribute(…)] .TYPE NAME[COUNT] [= …]
  void read_variable()
  {
    std::string name;
    for (auto word = tokens_.peek(); word != "[" && word != "=" && word != ";";
         word = tokens_.peek()) {
      if (tokens_.at_end()) fail("ends inside a variable");
      tokens_.next();
      if (!word.starts_with('.')) name = std::string(word);
    }
    if (linkage_ == linkage::visible) found_.variables.push_back(std::move(name));
  }

  void skip_block()
  {
    for (int depth = 1; depth > 0;) {
      if (tokens_.at_end()) fail("ends inside a block");
      auto const word = tokens_.next();
      depth += word == "{" ? 1 : word == "}" ? -1 : 0;
    }
    linkage_ = linkage::internal;
  }

  void read_function(bool is_kernel)
  {
    ptx_function function;
    if (tokens_.peek() == "(") function.results = read_parameters();
    function.name = std::string(tokens_.next());
    if (function.name.empty()) fail("has a function without a name");
    if (tokens_.peek() == "(") function.parameters = read_parameters();
    auto const where = linkage_;
    auto const has_body = skip_to_body();
    file_away(std::move(function), is_kernel, has_body, where);
  }

  /// Skips directives like .maxntid; true at a body, which is skipped too.
  bool skip_to_body()
  {
    while (!tokens_.at_end()) {
      auto const word = tokens_.next();
      if (word == ";") return linkage_ = linkage::internal, false;
      if (word == "{") return skip_block(), true;
    }
    fail("ends inside a function's head");
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

  std::vector<ptx_parameter> read_parameters()
  {
    std::vector<ptx_parameter> parameters;
    tokens_.next();  // "("
    while (tokens_.peek() != ")") {
      if (tokens_.at_end()) fail("ends inside a parameter list");
      if (tokens_.peek() == ",") tokens_.next();
      parameters.push_back(read_parameter());
    }
    tokens_.next();
    return parameters;
  }

  // .param [.align N] .TYPE [.ptr [.SPACE] [.align N]] NAME[COUNT]
  ptx_parameter read_parameter()
  {
    ptx_parameter parameter;
    auto is_pointer = false;
    for (auto word = tokens_.peek(); word != "," && word != ")"; word = tokens_.peek()) {
      if (tokens_.at_end()) fail("ends inside a parameter");
      tokens_.next();
      if (word == ".ptr")
        is_pointer = true;
      else if (word == ".align")
        read_align(parameter, is_pointer);
      else if (word == "[")
        parameter.count = read_number(tokens_.next());
      else if (word.starts_with('.') && word != ".param" && word != ".reg" && !is_pointer)
        parameter.type = std::string(word.substr(1));
    }
    if (parameter.type.empty()) fail("has a parameter without a type");
    return parameter;
  }

  void read_align(ptx_parameter& parameter, bool is_pointer)
  {
    auto const value = read_number(tokens_.next());
    if (!is_pointer) parameter.align = static_cast<unsigned>(value);  // else: of what it points at
  }

  [[nodiscard]] unsigned long read_number(std::string_view digits) const
  {
    unsigned long value = 0;
    auto const* const end = digits.data() + digits.size();
    if (auto const [rest, code] = std::from_chars(digits.data(), end, value);
        code != std::errc{} || rest != end)
      fail(detail::format("has '{}' where a number belongs", digits));
    return value;
  }

  /// An .extern that the module itself defines is no hook.
  void drop_defined_hooks()
  {
    auto const defined_here = [this](ptx_function const& hook) {
      auto const same = [&](ptx_function const& other) { return other.name == hook.name; };
      return std::any_of(found_.definitions.begin(), found_.definitions.end(), same) ||
             std::any_of(found_.weak.begin(), found_.weak.end(), same);
    };
    std::erase_if(found_.hooks, defined_here);
  }

  ptx_tokens tokens_;
  std::string_view name_;
  linkage linkage_ = linkage::internal;
  ptx_interface found_;
};

std::string describe(ptx_parameter const& parameter)
{
  if (parameter.count == 0) return parameter.type;
  return detail::format("{}[{}]", parameter.type, parameter.count);
}

std::vector<std::string> describe(std::vector<ptx_parameter> const& parameters)
{
  std::vector<std::string> texts;
  for (auto const& parameter : parameters) texts.push_back(describe(parameter));
  return texts;
}

}  // namespace

std::string to_string(ptx_function const& function)
{
  auto const result = function.results.empty()
                          ? std::string{}
                          : detail::format("({}) ", fmt::join(describe(function.results), ", "));
  return detail::format("{}{}({})", result, function.name,
                        fmt::join(describe(function.parameters), ", "));
}

ptx_interface read_ptx_interface(std::string_view ptx, std::string_view name)
{
  return interface_reader(ptx, name).read();
}

}  // namespace fatlink
