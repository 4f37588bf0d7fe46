// SPDX-License-Identifier: Apache-2.0
#include "cpu/decoder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "cpu/memory.hpp"

namespace fatlink::cpu {
namespace {

using syntax::operand_kind;

constexpr std::uint32_t k_most_frame = 1U << 28;  // bytes of registers, and of local variables
constexpr std::uint32_t k_alignment = 16;

decode_table const& families()
{
  static decode_table const table = [] {
    decode_table made;
    for (auto const add :
         {add_integer, add_bits, add_float, add_approximate, add_convert, add_compare, add_move,
          add_access, add_atomic, add_control, add_collective})
      add(made);
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
  code_.index = index;
  code_.is_entry = function_.is_entry;
  lay_out_variables();
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
    end += one.bytes();
    slot const at{local_offsets_[i], static_cast<std::uint32_t>(one.bytes())};
    if (i < function_.results.size())
      code_.results.push_back(at);
    else if (i < parameter_count)
      code_.parameters.push_back(at);
    if (end > k_most_frame)
      throw failure(fault::refused, code_.source + ": " + code_.name + ": too much local memory",
                    code_.source, function_.line);
  }
  code_.local_bytes = static_cast<std::uint32_t>(aligned(local, k_alignment));
  code_.parameter_bytes = static_cast<std::uint32_t>(parameters);
}

void decoding::refuse(std::string const& why) const
{
  auto const text = at_ == nullptr ? code_.name : std::string(at_->text);
  auto const line = at_ == nullptr ? function_.line : at_->line;
  throw failure(fault::refused,
                code_.source + ":" + std::to_string(line) + ": in " + code_.name +
                    ": the reference device does not execute '" + text + "'" +
                    (why.empty() ? "" : ": " + why),
                code_.source, line);
}

void decoding::decode(syntax::instruction const& next)
{
  at_ = &next;
  words_ = next.modifiers;
  starts_.push_back(static_cast<unsigned>(code_.operations.size()));
  code_.instructions.push_back({next.line, next.text});
  auto const found = families().find(next.name);
  if (found == families().end()) refuse("unknown instruction");
  found->second(*this);
  if (!words_.empty()) refuse("unknown modifier ." + std::string(words_.front()));
}

/// Branches named instructions; now they get the operations that those became.
void decoding::finish()
{
  at_ = nullptr;
  starts_.push_back(static_cast<unsigned>(code_.operations.size()));
  code_.instructions.push_back({function_.line, "the end of the body"});
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
  auto const found = words_.empty() ? std::nullopt : parse_type(words_.back());
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

operand_offset decoding::new_register(unsigned width)
{
  auto const made = code_.register_bytes;
  if (made > k_most_frame) refuse("too many registers");
  code_.register_bytes += width * k_lanes;
  return made;
}

operand_offset decoding::register_at(unsigned index)
{
  auto& offset = offsets_[index];  // plus 1, as 0 says not yet used
  if (offset == 0) {
    auto const width = size_of(function_.registers[index].type);
    if (width < 2) refuse("a register of 8 bits");
    offset = new_register(width) + 1;
  }
  return offset - 1;
}

std::uint32_t decoding::predicate_at(unsigned index)
{
  if (function_.registers[index].type != type::pred)
    refuse(function_.registers[index].name + " is no predicate");
  auto& offset = offsets_[index];
  if (offset == 0) offset = code_.predicates++;
  return offset * 2;
}

operand_offset decoding::constant(std::uint64_t bits, unsigned width)
{
  if (width < 8) bits &= (std::uint64_t{1} << (8 * width)) - 1;
  auto const [at, is_new] = constants_.emplace(
      std::pair{bits, width}, static_cast<operand_offset>(code_.constants.size()) | k_constant);
  if (is_new) {
    code_.constants.resize(code_.constants.size() + std::size_t{width} * k_lanes);
    auto* const lanes = code_.constants.data() + (at->second & ~k_constant);
    for (unsigned i = 0; i < k_lanes; ++i) std::memcpy(lanes + i * width, &bits, width);
    if (code_.constants.size() > k_most_frame) refuse("too many constants");
  }
  return at->second;
}

std::uint64_t decoding::immediate(syntax::operand const& from, type as) const
{
  if (from.kind == operand_kind::integer) return from.bits;
  auto const narrow = from.kind == operand_kind::real32;
  auto const value =
      narrow ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(from.bits)))
             : std::bit_cast<double>(from.bits);
  if (as == type::f32 && !narrow) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (as == type::f64 && narrow) return std::bit_cast<std::uint64_t>(value);
  if (as == type::f16 || as == type::bf16) refuse("a decimal immediate of 16 bits");
  return from.bits;
}

operand_offset decoding::source(syntax::operand const& from, type as)
{
  auto const width = std::max(size_of(as), 2U);
  switch (from.kind) {
    case operand_kind::register_: {
      auto const& one = function_.registers[from.index];
      if (from.negated || one.type == type::pred) refuse(one.name + " is a predicate");
      if (size_of(one.type) != width) refuse(one.name + " is of another width");
      return register_at(from.index);
    }
    case operand_kind::integer:
    case operand_kind::real32:
    case operand_kind::real64:
      return constant(immediate(from, as), width);
    case operand_kind::special:
      return special(from, as);
    case operand_kind::variable:
    case operand_kind::symbol:
      return address(from, as);
    default:
      refuse("an operand of a form that is not known");
  }
}

operand_offset decoding::special(syntax::operand const& from, type as)
{
  auto const made = new_register(size_of(as));
  if (!emit_special(*this, from.name, made, size_of(as)))
    refuse("unknown special register " + from.name);
  return made;
}

operand_offset decoding::address(syntax::operand const& from, type as)
{
  auto const width = size_of(as);
  if (width < 4) refuse("an address in 16 bits");
  auto const offset = static_cast<std::uint64_t>(from.offset);
  if (from.kind == operand_kind::symbol) {
    auto const* const found = find(from.name);
    if (found == nullptr) refuse(from.name + " is not declared");
    return constant(address_of(*found) + offset, width);
  }
  if (is_kernel_parameter(from.index))
    return constant(k_parameter_window + local_offsets_[from.index] + offset, width);
  if (auto const inner = addresses_.inner.find({index_, from.index});
      inner != addresses_.inner.end())
    return constant(inner->second + offset, width);
  auto const made = new_register(width);
  emit_local_address(*this, local_offsets_[from.index] + offset, made, width);
  return made;
}

std::uint64_t decoding::address_of(entity const& what)
{
  switch (what.is) {
    case entity::kind::variable:
      return addresses_.variables[what.index];
    case entity::kind::dynamic_shared:
      return addresses_.dynamic_shared;
    case entity::kind::function:
      refer_to(what.index);
      return k_function_window + what.index * k_function_stride;
    case entity::kind::builtin:
      break;
  }
  refuse("the address of a built-in function");
}

void decoding::refer_to(unsigned function_index)
{
  auto& all = code_.references;
  if (std::find(all.begin(), all.end(), function_index) == all.end()) all.push_back(function_index);
}

operand_offset decoding::destination(syntax::operand const& from, type as)
{
  auto const width = std::max(size_of(as), 2U);
  if (from.kind == operand_kind::sink) return new_register(width);
  if (from.kind != operand_kind::register_) refuse("the destination is no register");
  auto const& one = function_.registers[from.index];
  if (one.type == type::pred || size_of(one.type) != width)
    refuse(one.name + " is of another width");
  return register_at(from.index);
}

std::uint32_t decoding::predicate(std::size_t index)
{
  return predicate(operand(index));
}

std::uint32_t decoding::predicate(syntax::operand const& from)
{
  if (from.kind == operand_kind::integer) return from.bits != 0 ? k_true : k_false;
  if (from.kind != operand_kind::register_) refuse("an operand that is no predicate");
  return predicate_at(from.index) + (from.negated ? 1 : 0);
}

std::uint32_t decoding::predicate_destination(syntax::operand const& from)
{
  if (from.kind == operand_kind::sink) return code_.predicates++ * 2;
  if (from.kind != operand_kind::register_ || from.negated)
    refuse("the destination is no predicate");
  return predicate_at(from.index);
}

std::uint64_t decoding::integer(std::size_t index) const
{
  if (operand(index).kind != operand_kind::integer) refuse("an operand that is no constant");
  return operand(index).bits;
}

unsigned decoding::width_of(syntax::operand const& from) const
{
  return is_register(from) ? size_of(function_.registers[from.index].type) : 0;
}

unsigned decoding::add_list(std::vector<operand_offset> const& operands)
{
  auto const first = static_cast<unsigned>(code_.lists.size());
  code_.lists.insert(code_.lists.end(), operands.begin(), operands.end());
  return first;
}

unsigned decoding::label(syntax::operand const& from) const
{
  if (from.kind != operand_kind::label) refuse("a target that is no label");
  return from.index;
}

slot decoding::slot_of(unsigned index) const
{
  return {local_offsets_[index], static_cast<std::uint32_t>(function_.variables[index].bytes())};
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

code decode_function(linked_modules const& modules, unsigned index, address_map const& addresses)
{
  code made;
  decoding d(modules, index, addresses, made);
  for (auto const& one : modules.functions[index].what->instructions) d.decode(one);
  d.finish();
  return made;
}

}  // namespace fatlink::cpu
