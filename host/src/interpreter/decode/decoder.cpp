// SPDX-License-Identifier: Apache-2.0
#include "interpreter/decode/decoder.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "interpreter/decode/alignment.hpp"
#include "interpreter/execution/memory.hpp"
#include "interpreter/limits.hpp"
#include "util/limits.hpp"

namespace fatlink::interpreter {

namespace {

constexpr std::array k_families = {&add_integer,
                                   &add_bits,
                                   &add_float,
                                   &add_approximate,
                                   &add_convert,
                                   &add_compare,
                                   &add_move,
                                   &add_video,
                                   &add_access,
                                   &add_addresses,
                                   &add_atomic,
                                   &add_mbarrier,
                                   &add_copies,
                                   &add_texture_fetches,
                                   &add_texture_queries,
                                   &add_surfaces,
                                   &add_mma,
                                   &add_wmma,
                                   &add_matrix_moves,
                                   &add_control,
                                   &add_calls,
                                   &add_barrier,
                                   &add_collective,
                                   &add_hints};

decode_table make_table()
{
  decode_table table;
  for (auto const add : k_families) add(table);
  return table;
}

}  // namespace

decode_table const& instruction_table()
{
  // Never destroyed: threads may still execute while the process exits.
  static auto const& table = *new decode_table(make_table());
  return table;
}

decoding::decoding(linked_modules const& modules, unsigned index, placement const& places,
                   code& result)
    : modules_(modules),
      index_(index),
      module_(modules.functions[index].module),
      function_(*modules.functions[index].syntax),
      places_(places),
      code_(result),
      offsets_(function_.registers.size()),
      local_offsets_(function_.variables.size())
{
  code_.name = function_.name;
  code_.source = modules.modules[module_].name;
  code_.files = &modules.modules[module_].files;
  code_.index = index;
  code_.is_entry = function_.is_entry;
  code_.launches = function_.launches;
  lay_out_variables();
}

std::string decoding::place() const
{
  return instruction_ == nullptr ? line_in_ptx(code_.source, function_.line)
                                 : place_of(code_, code_.instructions.back());
}

void decoding::fail(fault kind, std::string const& message, std::string const& hint) const
{
  throw failure(
      kind, place() + ": in " + code_.name + ": " + message, code_.source,
      instruction_ == nullptr ? function_.line : instruction_->line,
      instruction_ == nullptr ? std::string() : location_of(code_, code_.instructions.back()),
      hint);
}

void decoding::exceed(std::string const& reason, std::string const& hint) const
{
  fail(fault::refused, reason, hint);
}

void decoding::refuse(std::string const& reason) const
{
  auto const text = instruction_ == nullptr ? code_.name : line_of(instruction_->text);
  fail(fault::refused, "the reference device does not execute '" + text + "'" +
                           (reason.empty() ? "" : ": " + reason));
}

void decoding::refuse_feature(std::string const& feature) const
{
  refuse("it does not support " + feature);
}

void decoding::reject(std::string const& reason) const
{
  fail(fault::invalid, "'" + line_of(instruction_->text) + "' is invalid: " + reason);
}

void decoding::reject_call(std::string const& reason) const
{
  fail(fault::prototype, "'" + line_of(instruction_->text) + "': " + reason);
}

void decoding::decode(syntax::instruction const& instruction)
{
  instruction_ = &instruction;
  words_ = instruction.modifiers;
  next_slot_ = variable_bytes_;
  starts_.push_back(static_cast<unsigned>(code_.operations.size()));
  code_.instructions.push_back({instruction.line, instruction.text, instruction.location});
  auto const entry = instruction_table().find(instruction.name);
  if (entry == instruction_table().end()) {
    auto const* const feature = unsupported_feature(instruction.name);
    if (feature != nullptr) refuse_feature(feature);
    refuse("unknown instruction");
  }
  entry->second(*this);
  if (!words_.empty()) refuse("unknown modifier ." + std::string(words_.front()));
}

/// Replaces the target instructions of branches by their operations.
void decoding::finish()
{
  instruction_ = nullptr;
  starts_.push_back(static_cast<unsigned>(code_.operations.size()));
  code_.instructions.push_back({function_.line, "the end of the body", {}});
  store_register_results();
  emit_return(*this);
  for (auto& operation : code_.operations)
    if ((operation.flags & k_branch) != 0) operation.immediate = starts_[operation.immediate];
  for (auto& list : code_.branch_tables)
    for (auto& target : list) target = starts_[target];
  code_.constants.resize(aligned(code_.constants.size(), 64));
  if (code_.constants.size() > k_max_constants) refuse("too many constants");
}

bool decoding::take(std::string_view word)
{
  auto const position = std::find(words_.begin(), words_.end(), word);
  if (position == words_.end()) return false;
  words_.erase(position);
  return true;
}

std::string_view decoding::take_next()
{
  if (words_.empty()) return {};
  auto const word = words_.front();
  words_.erase(words_.begin());
  return word;
}

type decoding::take_type()
{
  for (auto word = words_.rbegin(); word != words_.rend(); ++word)
    if (auto const type = ptx::parse_type(*word)) {
      words_.erase(std::next(word).base());
      return *type;
    }
  refuse("no modifier is a known type");
}

type decoding::take_integer_type(unsigned minimum)
{
  auto const type = take_type();
  if (!is_integer(type) || size_of(type) < minimum) refuse("not a supported type");
  return type;
}

syntax::operand const& decoding::operand(std::size_t index) const
{
  if (index >= instruction_->operands.size()) refuse("too few operands");
  return instruction_->operands[index];
}

void decoding::expect_count(std::size_t minimum, std::size_t maximum) const
{
  if (count() < minimum) refuse("too few operands");
  if (count() > maximum) refuse("too many operands");
}

unsigned decoding::add_list(std::vector<operand_offset> const& operands)
{
  auto const index = static_cast<unsigned>(code_.lists.size());
  code_.lists.insert(code_.lists.end(), operands.begin(), operands.end());
  return index;
}

unsigned decoding::label(syntax::operand const& operand) const
{
  if (operand.kind != syntax::operand_kind::label) reject("the target is not a label");
  return operand.index;
}

unsigned decoding::branch_table(std::string_view name)
{
  if (auto const decoded = branch_tables_.find(name); decoded != branch_tables_.end())
    return decoded->second;
  auto const& tables = function_.tables;
  auto const table = std::find_if(tables.begin(), tables.end(),
                                  [&](auto const& entry) { return entry.name == name; });
  if (table == tables.end()) reject("there is no .branchtargets of that name");
  std::vector<std::uint32_t> targets;
  for (auto const& target : table->labels) targets.push_back(label(target));
  auto const index = static_cast<unsigned>(code_.branch_tables.size());
  code_.branch_tables.push_back(std::move(targets));
  branch_tables_.emplace(table->name, index);
  return index;
}

bool decoding::is_kernel_parameter(unsigned index) const noexcept
{
  return function_.is_entry && index < function_.parameters.size() + function_.results.size();
}

entity const* decoding::find(std::string const& name) const
{
  auto const& names = modules_.names[module_];
  auto const entry = names.find(name);
  return entry == names.end() ? nullptr : &entry->second;
}

operation& decoding::emit(handler run)
{
  auto guard = k_true;
  if (instruction_ != nullptr && instruction_->guard >= 0)
    guard = predicate_at(static_cast<unsigned>(instruction_->guard)) +
            (instruction_->guard_negated ? 1 : 0);
  auto& operation = code_.operations.emplace_back();
  operation.run = run;
  operation.guard = guard;
  operation.instruction = static_cast<std::uint32_t>(code_.instructions.size() - 1);
  return operation;
}

operation& decoding::emit(handler run, type result, std::initializer_list<type> sources)
{
  expect_count(sources.size() + 1, sources.size() + 1);
  operation operands;
  std::size_t index = 1;
  for (auto* const field : {&operands.a, &operands.b, &operands.c, &operands.e})
    if (index <= sources.size()) {
      *field = source(index, sources.begin()[index - 1]);
      ++index;
    }
  operands.d = destination(0, result);
  auto& operation = emit(run);
  operation.d = operands.d;
  operation.a = operands.a;
  operation.b = operands.b;
  operation.c = operands.c;
  operation.e = operands.e;
  return operation;
}

code decode_function(linked_modules const& modules, unsigned index, placement const& places)
{
  code result;
  decoding d(modules, index, places, result);
  d.check_function();
  d.begin();
  for (auto const& instruction : modules.functions[index].syntax->instructions)
    d.decode(instruction);
  d.finish();
  return result;
}

}  // namespace fatlink::interpreter
