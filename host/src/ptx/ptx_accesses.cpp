// SPDX-License-Identifier: Apache-2.0
#include "ptx/ptx_accesses.hpp"

#include <algorithm>

#include "util/limits.hpp"

namespace fatlink::detail {
namespace {

bool is_directive(std::string_view word)
{
  return word.starts_with('.');
}

/// Whether `word` may name a parameter: it is no register, directive, number or punctuation.
bool may_be_name(std::string_view word)
{
  auto const first = word.empty() ? '%' : word.front();
  return (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '_' ||
         first == '$';
}

/// The names between the parentheses that open at `index`; moves `index` past the closing one.
std::vector<std::string_view> read_list(std::vector<std::string_view> const& words,
                                        std::size_t& index)
{
  std::vector<std::string_view> names;
  if (index >= words.size() || words[index] != "(") return names;
  for (++index; index < words.size() && words[index] != ")"; ++index)
    if (words[index] != ",") names.push_back(words[index]);
  ++index;
  return names;
}

/// Moves `index` past a comma, if it is at one.
void skip_comma(std::vector<std::string_view> const& words, std::size_t& index)
{
  if (index < words.size() && words[index] == ",") ++index;
}

}  // namespace

scalar_kind kind_of(std::string_view type)
{
  if (type.size() < 2) return scalar_kind::unknown;
  auto const width = type.substr(1);
  if (type.front() == 'f') return scalar_kind::floating;
  if (type.front() != 's' && type.front() != 'u' && type.front() != 'b')
    return scalar_kind::unknown;
  return width == "8" || width == "16" ? scalar_kind::narrow_integer : scalar_kind::integer;
}

void ptx_accesses::observed_type::observe(std::string_view type)
{
  if (type.size() > limits::k_type_bytes) disagree_ = true;  // no type of PTX
  if (disagree_) return;
  if (type_.empty()) type_ = type;
  disagree_ = disagree_ || kind_of(type_) != kind_of(type);
}

void ptx_accesses::begin_body(named_function const& head)
{
  declared_.clear();
  stored_.clear();
  returned_.clear();
  unset_.clear();
  floats_.clear();
  for (auto const& names : {head.result_names, head.parameter_names})
    for (auto const name : names) declared_[name];
}

void ptx_accesses::end_body(named_function& head) const
{
  auto const describe = [this](auto& parameters, auto const& names) {
    for (std::size_t i = 0; i < parameters.size() && i < names.size(); ++i)
      if (parameters[i].count == 0) parameters[i].accessed_as = declared_.at(names[i]).type.text();
  };
  describe(head.function.results, head.result_names);
  auto& parameters = head.function.parameters;
  describe(parameters, head.parameter_names);
  for (std::size_t i = 0; i < parameters.size() && i < head.parameter_names.size(); ++i)
    parameters[i].is_unread = !declared_.at(head.parameter_names[i]).is_mentioned;
}

void ptx_accesses::describe_callee(ptx_function& hook) const
{
  auto const call = called_.find(hook.name);
  if (call == called_.end()) return;
  auto const& [results, parameters] = call->second;
  for (std::size_t i = 0; i < hook.results.size() && i < results.size(); ++i)
    if (hook.results[i].count == 0) hook.results[i].accessed_as = results[i].text();
  for (std::size_t i = 0; i < hook.parameters.size() && i < parameters.size(); ++i)
    if (hook.parameters[i].count == 0) hook.parameters[i].accessed_as = parameters[i].type.text();
}

void ptx_accesses::describe_calls(ptx_function& definition) const
{
  auto const call = called_.find(definition.name);
  if (call == called_.end()) return;
  auto const& parameters = call->second.parameters;
  for (std::size_t i = 0; i < definition.parameters.size() && i < parameters.size(); ++i)
    definition.parameters[i].is_unpassed = parameters[i].is_unpassed;
}

void ptx_accesses::drop_untyped(std::vector<ptx_function>& functions) const
{
  if (is_typed_) return;
  for (auto& function : functions)
    for (auto* list : {&function.results, &function.parameters})
      for (auto& parameter : *list)
        if (parameter.accessed_as.starts_with('b')) parameter.accessed_as.clear();
}

void ptx_accesses::read_statement(words const& statement)
{
  std::size_t index = 0;
  if (!statement.empty() && statement[0] == "@")  // a predicate: @%p1 or @!%p1
    index = statement.size() > 1 && statement[1] == "!" ? 3 : 2;
  if (index >= statement.size()) return;
  auto const word = statement[index];
  if (word == "ld" || word == "st")
    read_move(statement, index);
  else if (word == "call")
    read_call(statement, index);
  else if (word == ".reg")
    return declare_registers(statement, index);
  else if (word == ".param")
    return declare(statement, index);
  note_names(statement);
}

// .reg .f32 %f<9>, x;
void ptx_accesses::declare_registers(words const& statement, std::size_t index)
{
  if (++index >= statement.size()) return;
  auto const type = statement[index] == ".f32" || statement[index] == ".f64"
                        ? statement[index].substr(1)
                        : std::string_view{};
  for (++index; index < statement.size(); ++index)
    if (statement[index].starts_with('%') || may_be_name(statement[index])) {
      if (type.empty())
        floats_.erase(statement[index]);
      else
        floats_[statement[index]] = type;
    }
}

/// The type of a move of `value`: "b32" of a register that is declared as .f32 is "f32".
std::string_view ptx_accesses::type_of_move(std::string_view stated, std::string_view value) const
{
  if (floats_.empty() || !stated.starts_with('b')) return stated;
  auto found = floats_.find(value);
  if (found == floats_.end())
    found = floats_.find(value.substr(0, value.find_last_not_of("0123456789") + 1));
  return found == floats_.end() || found->second.substr(1) != stated.substr(1) ? stated
                                                                               : found->second;
}

// ld.param.f32 %f1, [NAME+OFFSET] or st.param.f32 [NAME+OFFSET], %f1
void ptx_accesses::read_move(words const& statement, std::size_t index)
{
  auto const is_load = statement[index] == "ld";
  if (++index >= statement.size() || statement[index] != ".param") return;
  std::string_view type;
  for (++index; index < statement.size() && is_directive(statement[index]); ++index)
    type = statement[index].substr(1);  // the last one
  auto const bracket = std::find(statement.begin() + static_cast<std::ptrdiff_t>(index),
                                 statement.end(), std::string_view("["));
  if (statement.end() - bracket < 2) return;
  auto const name = *(bracket + 1);
  auto const value = static_cast<std::size_t>(is_load ? bracket - statement.begin() - 2
                                                      : std::ssize(statement) - 1);
  if (value < statement.size()) type = type_of_move(type, statement[value]);
  is_typed_ = is_typed_ || type == "f32" || type == "f64" || type == "u32" || type == "u64" ||
              type == "s32" || type == "s64";
  if (auto const declared = declared_.find(name); declared != declared_.end())
    declared->second.type.observe(type);
  else if (!is_load)
    stored_[name] = type;
  else if (auto const result = returned_.find(name); result != returned_.end())
    result->second->observe(type);
}

// call.uni (RESULT), FUNCTION, (PARAMETER, …)
void ptx_accesses::read_call(words const& statement, std::size_t index)
{
  for (++index; index < statement.size() && is_directive(statement[index]);) ++index;
  auto const results = read_list(statement, index);
  skip_comma(statement, index);
  if (index >= statement.size() || statement[index].starts_with('%')) return;  // through a register
  auto& callee = called_[std::string(statement[index++])];
  skip_comma(statement, index);
  auto const parameters = read_list(statement, index);
  if (callee.parameters.size() < parameters.size()) {
    called_size_ += parameters.size() - callee.parameters.size();
    callee.parameters.resize(parameters.size());
  }
  if (callee.results.empty()) ++called_size_;
  if (callee.results.empty()) callee.results.resize(1);  // never moved again: returned_ points here
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (auto const type = stored_.find(parameters[i]); type != stored_.end())
      callee.parameters[i].type.observe(type->second);
    if (unset_.contains(parameters[i])) callee.parameters[i].is_unpassed = true;
  }
  if (results.size() == 1) returned_[results[0]] = &callee.results[0];
}

// .param .b32 NAME: the name may have belonged to an earlier call
void ptx_accesses::declare(words const& statement, std::size_t index)
{
  auto const is_name = [](std::string_view word) {
    return !word.empty() && !is_directive(word) && word != "[";
  };
  while (++index < statement.size())
    if (statement[index] == ".align")
      ++index;
    else if (is_name(statement[index]))
      break;
  if (index >= statement.size()) return;
  stored_.erase(statement[index]);
  returned_.erase(statement[index]);
  unset_.insert(statement[index]);
}

/// Whatever mentions a name may read or write it: ld.param, mov of its address, call.
void ptx_accesses::note_names(std::vector<std::string_view> const& part)
{
  for (auto const word : part) {
    if (!may_be_name(word)) continue;
    if (!unset_.empty()) unset_.erase(word);
    if (auto const name = declared_.find(word); name != declared_.end())
      name->second.is_mentioned = true;
  }
}

}  // namespace fatlink::detail
