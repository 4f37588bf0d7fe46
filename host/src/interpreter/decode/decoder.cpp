// SPDX-License-Identifier: Apache-2.0
#include "interpreter/decode/decoder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "interpreter/execution/memory.hpp"
#include "interpreter/limits.hpp"
#include "util/limits.hpp"

namespace fatlink::interpreter {
namespace {

using syntax::operand_kind;

constexpr std::uint32_t k_most_frame = 1U << 28;  // bytes of registers, and of constants
static_assert(limits::k_local_bytes == 512U * 1024U);
constexpr std::uint32_t k_alignment = 16;

decode_table const& families()
{
  // Never destroyed: threads execute while the process ends, too.
  static auto const& table = *[] {
    auto* const made = new decode_table;
    for (auto const add : {add_integer, add_bits, add_logic, add_float, add_approximate,
                           add_convert, add_compare, add_select, add_move, add_access, add_address,
                           add_atomic, add_control, add_barrier, add_shuffle, add_vote})
      add(*made);
    return made;
  }();
  return table;
}

constexpr std::uint64_t aligned(std::uint64_t offset, std::uint64_t to) noexcept
{
  return (offset + to - 1) / to * to;
}

}  // namespace

decoding::decoding(linked_modules const& modules, unsigned index, address_map const& addresses,
                   code& to)
    : modules_(modules),
      index_(index),
      module_(modules.functions[index].module),
      function_(*modules.functions[index].what),
      addresses_(addresses),
      code_(to),
      offsets_(function_.registers.size()),
      local_offsets_(function_.variables.size())
{
  code_.name = function_.name;
  code_.source = modules.modules[module_].name;
  code_.files = &modules.modules[module_].files;
  code_.index = index;
  code_.is_entry = function_.is_entry;
  lay_out_variables();
}

/// A variadic function gets room for the longest list of arguments that any call passes to it.
std::uint64_t decoding::bytes_of(unsigned variable) const
{
  auto const last = function_.results.size() + function_.parameters.size();
  auto const is_list = is_variadic(function_) && variable + 1 == last;
  return is_list ? modules_.variadic_bytes[index_] : function_.variables[variable].bytes();
}

/// Parameters of a kernel lie in the launch's; every other .param and .local in the frame.
void decoding::lay_out_variables()
{
  std::uint64_t local = 0;
  std::uint64_t parameters = 0;
  auto const parameter_count = function_.results.size() + function_.parameters.size();
  for (std::size_t i = 0; i < function_.variables.size(); ++i) {
    auto const& one = function_.variables[i];
    if (one.space != space::param && one.space != space::local) continue;
    auto& end = is_kernel_parameter(static_cast<unsigned>(i)) ? parameters : local;
    end = aligned(end, one.align);
    local_offsets_[i] = static_cast<std::uint32_t>(end);
    auto const bytes = bytes_of(static_cast<unsigned>(i));
    end += bytes;
    slot const at{local_offsets_[i], static_cast<std::uint32_t>(bytes)};
    if (i < function_.results.size())
      code_.results.push_back(at);
    else if (i < parameter_count)
      code_.parameters.push_back(at);
    if (end > limits::k_local_bytes)
      throw failure(fault::refused,
                    code_.source + ": " + code_.name +
                        ": more than 512 KiB of local memory, the limit of a thread",
                    code_.source, function_.line);
  }
  code_.is_variadic = is_variadic(function_);
  code_.local_bytes = static_cast<std::uint32_t>(aligned(local, k_alignment));
  code_.parameter_bytes = static_cast<std::uint32_t>(parameters);
}

std::string decoding::place() const
{
  return at_ == nullptr ? code_.source + ":" + std::to_string(function_.line)
                        : place_of(code_, code_.instructions.back());
}

void decoding::fail(fault kind, std::string const& message) const
{
  throw failure(kind, place() + ": in " + code_.name + ": " + message, code_.source,
                at_ == nullptr ? function_.line : at_->line,
                at_ == nullptr ? std::string() : location_of(code_, code_.instructions.back()));
}

void decoding::refuse(std::string const& why) const
{
  auto const text = at_ == nullptr ? code_.name : line_of(at_->text);
  fail(fault::refused,
       "the reference device does not execute '" + text + "'" + (why.empty() ? "" : ": " + why));
}

void decoding::refuse_feature(std::string const& feature) const
{
  refuse("it does not support " + feature);
}

void decoding::reject(std::string const& why) const
{
  fail(fault::invalid, "'" + line_of(at_->text) + "' is invalid: " + why);
}

void decoding::reject_call(std::string const& why) const
{
  fail(fault::prototype, "'" + line_of(at_->text) + "': " + why);
}

void decoding::decode(syntax::instruction const& next)
{
  at_ = &next;
  words_ = next.modifiers;
  starts_.push_back(static_cast<unsigned>(code_.operations.size()));
  code_.instructions.push_back({next.line, next.text, next.location});
  auto const found = families().find(next.name);
  if (found == families().end()) {
    auto const* const limit = limit_of(next.name);
    if (limit != nullptr) refuse_feature(limit);
    refuse("unknown instruction");
  }
  found->second(*this);
  if (!words_.empty()) refuse("unknown modifier ." + std::string(words_.front()));
}

/// Branches named instructions; now they get the operations that those became.
void decoding::finish()
{
  at_ = nullptr;
  starts_.push_back(static_cast<unsigned>(code_.operations.size()));
  code_.instructions.push_back({function_.line, "the end of the body", {}});
  emit_return(*this);
  for (auto& one : code_.operations)
    if ((one.flags & k_branch) != 0) one.immediate = starts_[one.immediate];
  for (auto& list : code_.branch_tables)
    for (auto& target : list) target = starts_[target];
  code_.constants.resize(aligned(code_.constants.size(), 64));
  if (code_.register_bytes > k_most_frame || code_.constants.size() > k_most_frame)
    refuse("too many registers");
}

bool decoding::take(std::string_view word)
{
  auto const found = std::find(words_.begin(), words_.end(), word);
  if (found == words_.end()) return false;
  words_.erase(found);
  return true;
}

std::string_view decoding::take_next()
{
  if (words_.empty()) return {};
  auto const first = words_.front();
  words_.erase(words_.begin());
  return first;
}

type decoding::take_type()
{
  auto const found = words_.empty() ? std::nullopt : ptx::parse_type(words_.back());
  if (!found) refuse("no known type");
  words_.pop_back();
  return *found;
}

syntax::operand const& decoding::operand(std::size_t index) const
{
  if (index >= at_->operands.size()) refuse("too few operands");
  return at_->operands[index];
}

void decoding::expect_count(std::size_t least, std::size_t most) const
{
  if (count() < least) refuse("too few operands");
  if (count() > most) refuse("too many operands");
}

unsigned decoding::add_list(std::vector<operand_offset> const& operands)
{
  auto const first = static_cast<unsigned>(code_.lists.size());
  code_.lists.insert(code_.lists.end(), operands.begin(), operands.end());
  return first;
}

unsigned decoding::label(syntax::operand const& from) const
{
  if (from.kind != operand_kind::label) reject("a target that is no label");
  return from.index;
}

unsigned decoding::branch_table(std::string_view name)
{
  if (auto const known = branch_tables_.find(name); known != branch_tables_.end())
    return known->second;
  auto const& tables = function_.tables;
  auto const found = std::find_if(tables.begin(), tables.end(),
                                  [&](auto const& table) { return table.name == name; });
  if (found == tables.end()) reject("no .branchtargets of that name");
  std::vector<std::uint32_t> targets;
  for (auto const& target : found->labels) targets.push_back(label(target));
  auto const index = static_cast<unsigned>(code_.branch_tables.size());
  code_.branch_tables.push_back(std::move(targets));
  branch_tables_.emplace(found->name, index);
  return index;
}

slot decoding::slot_of(unsigned index) const
{
  return {local_offsets_[index], static_cast<std::uint32_t>(bytes_of(index))};
}

bool decoding::is_kernel_parameter(unsigned index) const noexcept
{
  return function_.is_entry && index < function_.parameters.size() + function_.results.size();
}

entity const* decoding::find(std::string const& name) const
{
  auto const& names = modules_.names[module_];
  auto const found = names.find(name);
  return found == names.end() ? nullptr : &found->second;
}

operation& decoding::emit(handler run)
{
  auto guard = k_true;
  if (at_ != nullptr && at_->guard >= 0)
    guard = predicate_at(static_cast<unsigned>(at_->guard)) + (at_->guard_negated ? 1 : 0);
  auto& made = code_.operations.emplace_back();
  made.run = run;
  made.guard = guard;
  made.instruction = static_cast<std::uint32_t>(code_.instructions.size() - 1);
  return made;
}

operation& decoding::emit(handler run, type result, std::initializer_list<type> sources)
{
  expect_count(sources.size() + 1, sources.size() + 1);
  operation common;
  std::size_t next = 1;
  for (auto* const to : {&common.a, &common.b, &common.c, &common.e})
    if (next <= sources.size()) {
      *to = source(next, sources.begin()[next - 1]);
      ++next;
    }
  common.d = destination(0, result);
  auto& made = emit(run);
  made.d = common.d;
  made.a = common.a;
  made.b = common.b;
  made.c = common.c;
  made.e = common.e;
  return made;
}

code decode_function(linked_modules const& modules, unsigned index, address_map const& addresses)
{
  code made;
  decoding d(modules, index, addresses, made);
  for (auto const& one : modules.functions[index].what->instructions) d.decode(one);
  d.finish();
  return made;
}

}  // namespace fatlink::interpreter
