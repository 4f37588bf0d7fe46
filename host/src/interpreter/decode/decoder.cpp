// SPDX-License-Identifier: Apache-2.0
#include "interpreter/decode/decoder.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "interpreter/decode/address_space.hpp"
#include "interpreter/execution/memory.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"

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

void decoding::fail(error_kind kind, std::string const& message, std::string const& hint) const
{
  throw code_error(
      kind, place() + ": in " + code_.name + ": " + message, code_.source,
      instruction_ == nullptr ? function_.line : instruction_->line,
      instruction_ == nullptr ? std::string() : location_of(code_, code_.instructions.back()),
      hint);
}

void decoding::exceed(std::string const& reason, std::string const& hint) const
{
  fail(error_kind::refused, reason, hint);
}

void decoding::fail_unsupported(std::string const& reason) const
{
  auto const text = instruction_ == nullptr ? code_.name : line_of(instruction_->text);
  fail(error_kind::refused, "the reference device does not execute '" + text + "'" +
                                (reason.empty() ? "" : ": " + reason));
}

void decoding::refuse_feature(std::string const& feature) const
{
  fail_unsupported("it does not support " + feature);
}

void decoding::reject(std::string const& reason) const
{
  fail(error_kind::invalid, "'" + line_of(instruction_->text) + "' is invalid: " + reason);
}

void decoding::reject_call(std::string const& reason) const
{
  fail(error_kind::prototype, "'" + line_of(instruction_->text) + "': " + reason);
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
    fail_unsupported("unknown instruction");
  }
  entry->second(*this);
  if (!words_.empty()) fail_unsupported("unknown modifier ." + std::string(words_.front()));
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
  if (code_.constants.size() > k_max_constants) fail_unsupported("too many constants");
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
  fail_unsupported("no modifier is a known type");
}

type decoding::take_integer_type(unsigned minimum)
{
  auto const type = take_type();
  if (!is_integer(type) || size_of(type) < minimum) fail_unsupported("not a supported type");
  return type;
}

syntax::operand const& decoding::operand(std::size_t index) const
{
  if (index >= instruction_->operands.size()) fail_unsupported("too few operands");
  return instruction_->operands[index];
}

void decoding::expect_count(std::size_t minimum, std::size_t maximum) const
{
  if (count() < minimum) fail_unsupported("too few operands");
  if (count() > maximum) fail_unsupported("too many operands");
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

namespace {

// What a function's frame holds besides registers: variables, parameters and results.

static_assert(limits::k_local_bytes == 512U * 1024U);
constexpr std::uint32_t k_alignment = 16;
constexpr char const* k_local_hint = "make the arrays of its functions smaller; no GPU has more";

}  // namespace

/// A variadic function gets space for the longest argument list that any call passes to it.
std::uint64_t decoding::bytes_of(unsigned variable) const
{
  auto const count = function_.results.size() + function_.parameters.size();
  auto const is_list = is_variadic(function_) && variable + 1 == count;
  return is_list ? modules_.variadic_bytes[index_] : function_.variables[variable].bytes();
}

/// Kernel parameters are in launch_state::parameters; other .param and .local variables are in the
/// frame.
void decoding::lay_out_variables()
{
  std::uint64_t local = 0;
  std::uint64_t parameters = 0;
  auto const parameter_count = function_.results.size() + function_.parameters.size();
  for (std::size_t i = 0; i < function_.variables.size(); ++i) {
    auto const& variable = function_.variables[i];
    if (variable.space != space::param && variable.space != space::local) continue;
    auto& end = is_kernel_parameter(static_cast<unsigned>(i)) ? parameters : local;
    end = aligned(end, variable.align);
    local_offsets_[i] = static_cast<std::uint32_t>(end);
    auto const bytes = bytes_of(static_cast<unsigned>(i));
    end += bytes;
    slot const place{local_offsets_[i], static_cast<std::uint32_t>(bytes)};
    if (i < function_.results.size())
      code_.results.push_back(place);
    else if (i < parameter_count)
      code_.parameters.push_back(place);
    if (end > limits::k_local_bytes)
      throw code_error(error_kind::refused,
                       code_.source + ": " + code_.name +
                           ": more than 512 KiB of local memory, the limit of a thread",
                       code_.source, function_.line, {}, k_local_hint);
  }
  code_.is_variadic = is_variadic(function_);
  code_.local_bytes = static_cast<std::uint32_t>(aligned(local, k_alignment));
  variable_bytes_ = code_.local_bytes;
  code_.parameter_bytes = static_cast<std::uint32_t>(parameters);
}

void decoding::check_function() const
{
  for (auto const& parameter : function_.parameters)
    if (parameter.is_reference)
      fail_unsupported("the parameter " + parameter.name +
                       " is a reference to a texture or surface");
  if (function_.error.reason.empty()) return;
  auto const& [line, statement, reason] = function_.error;
  throw code_error(error_kind::syntax,
                   line_in_ptx(code_.source, line) + ": in " + code_.name +
                       ": the reference device does not understand '" + line_of(statement) +
                       "': " + reason,
                   code_.source, line);
}

/// Copies parameters that the body has in registers from where the caller passes them, or results
/// to where it takes them.
void decoding::copy_register_parameters(bool are_results)
{
  for (auto const& [variable, index] : function_.register_parameters) {
    if ((variable < function_.results.size()) != are_results) continue;
    auto const& declared = function_.variables[variable];
    auto const size = size_of(declared.type);
    for (unsigned i = 0; i < declared.count; ++i) {
      slot const place{slot_of(variable).offset + i * size, size};
      if (declared.is_predicate)
        emit_predicate_access(*this, are_results, predicate_at(index + i), place);
      else
        emit_frame_access(*this, are_results, declared.type, register_at(index + i), place);
    }
  }
}

void decoding::store_register_results()
{
  copy_register_parameters(true);
}

void decoding::begin()
{
  if (function_.register_parameters.empty()) return;
  code_.instructions.push_back({function_.line, "the start of the body", {}});
  copy_register_parameters(false);
}

slot decoding::new_slot(unsigned bytes)
{
  slot const place{next_slot_, bytes};
  next_slot_ = static_cast<std::uint32_t>(aligned(next_slot_ + bytes, k_alignment));
  code_.local_bytes = std::max(code_.local_bytes, next_slot_);
  if (code_.local_bytes > limits::k_local_bytes)
    exceed("more than 512 KiB of local memory, the limit of a thread", k_local_hint);
  return place;
}

slot decoding::slot_of(unsigned index) const
{
  return {local_offsets_[index], static_cast<std::uint32_t>(bytes_of(index))};
}

namespace {

// Operands: registers, immediates, predicates, special registers, addresses.

using syntax::operand_kind;

/// Registers of 8 bits have 16 in the frame.
unsigned register_width(type type) noexcept
{
  return std::max(size_of(type), 2U);
}

}  // namespace

operand_offset decoding::new_register(unsigned width)
{
  auto const offset = code_.register_bytes;
  if (offset > k_max_registers)
    exceed("more than 1 MiB of registers, the limit of a thread",
           "split the function; a GPU has 255 registers and 512 KiB of local memory for a thread");
  code_.register_bytes += width * k_lanes;
  return offset;
}

operand_offset decoding::register_at(unsigned index)
{
  auto& offset = offsets_[index];  // plus 1: 0 is not used yet
  if (offset == 0) {
    offset = new_register(register_width(function_.registers[index].type)) + 1;
  }
  return offset - 1;
}

std::uint32_t decoding::predicate_at(unsigned index)
{
  if (function_.registers[index].type != type::pred)
    reject(function_.registers[index].name + " is not a predicate");
  auto& offset = offsets_[index];
  if (offset == 0) offset = code_.predicates++;
  return offset * 2;
}

operand_offset decoding::constant(std::uint64_t bits, unsigned width)
{
  if (width < 8) bits &= (std::uint64_t{1} << (8 * width)) - 1;
  auto const [entry, is_new] = constants_.emplace(
      std::pair{bits, width}, static_cast<operand_offset>(code_.constants.size()) | k_constant);
  if (is_new) {
    code_.constants.resize(code_.constants.size() + std::size_t{width} * k_lanes);
    auto* const lanes = code_.constants.data() + (entry->second & ~k_constant);
    for (unsigned i = 0; i < k_lanes; ++i)
      std::memcpy(lanes + i * width, &bits, std::min<std::size_t>(width, sizeof bits));
    if (code_.constants.size() > k_max_constants) fail_unsupported("too many constants");
  }
  return entry->second;
}

std::uint64_t decoding::immediate(syntax::operand const& operand, type type) const
{
  if (operand.kind == operand_kind::integer) return operand.bits;
  auto const narrow = operand.kind == operand_kind::real32;
  auto const value =
      narrow ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits)))
             : std::bit_cast<double>(operand.bits);
  if (type == type::f32 && !narrow) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (type == type::f64 && narrow) return std::bit_cast<std::uint64_t>(value);
  if (type == type::f16 || type == type::bf16) fail_unsupported("a decimal immediate of 16 bits");
  return operand.bits;
}

operand_offset decoding::source(syntax::operand const& operand, type type)
{
  auto const width = register_width(type);
  switch (operand.kind) {
    case operand_kind::register_: {
      auto const& declared = function_.registers[operand.index];
      if (operand.negated || declared.type == type::pred) reject(declared.name + " is a predicate");
      reject_part(operand);
      if (register_width(declared.type) != width) reject(declared.name + " is of another width");
      auto const register_ = register_at(operand.index);
      if (operand.offset == 0) return register_;
      if (is_float(type)) fail_unsupported("a sum of a register and a constant in floating point");
      auto const sum = new_register(width);
      emit_sum(*this, register_, static_cast<std::uint64_t>(operand.offset), sum, width);
      return sum;
    }
    case operand_kind::integer:
    case operand_kind::real32:
    case operand_kind::real64:
      return constant(immediate(operand, type), width);
    case operand_kind::special:
      return special(operand, type);
    case operand_kind::variable:
    case operand_kind::symbol:
      return address(operand, type);
    default:
      fail_unsupported("unknown form of operand");
  }
}

/// %r1.b0 and -%r1 are operands of video instructions only, which remove both before they read.
void decoding::reject_part(syntax::operand const& operand) const
{
  if (!operand.selector.empty()) reject("." + operand.selector + " is not a part of an operand");
  if (operand.minus) reject("the operand is negated");
}

operand_offset decoding::special(syntax::operand const& operand, type type)
{
  auto const offset = new_register(size_of(type));
  if (!emit_special(*this, operand.name, offset, size_of(type)))
    fail_unsupported("unknown special register " + operand.name);
  return offset;
}

operand_offset decoding::address(syntax::operand const& operand, type type)
{
  auto const width = size_of(type);
  if (width < 4) reject("an address in 16 bits");
  auto const offset = static_cast<std::uint64_t>(operand.offset);
  if (operand.kind == operand_kind::symbol) {
    auto const* const meaning = find(operand.name);
    if (meaning == nullptr) fail_unsupported(operand.name + " is not declared");
    return constant(address_of(*meaning) + offset + element_offset(operand, *meaning), width);
  }
  if (is_kernel_parameter(operand.index))
    return constant(k_parameter_window + local_offsets_[operand.index] + offset, width);
  for (auto const* const inner : {&places_.addresses->inner, &places_.shared.inner})
    if (auto const entry = inner->find({index_, operand.index}); entry != inner->end())
      return constant(entry->second + offset, width);
  auto const result = new_register(width);
  emit_local_address(*this, local_offsets_[operand.index] + offset, result, width);
  return result;
}

/// The bytes from the start of an array to the element `name[3]`.
std::uint64_t decoding::element_offset(syntax::operand const& operand, entity const& entity) const
{
  if (!operand.is_element) return 0;
  if (entity.kind != entity_kind::variable)
    fail_unsupported("an element of something that is not an array");
  auto const size = size_of(modules_.variables[entity.index].syntax->type);
  return static_cast<std::uint64_t>(operand.element) * size;
}

std::uint64_t decoding::address_of(entity const& entity)
{
  switch (entity.kind) {
    case entity_kind::variable: {
      auto const& variable = *modules_.variables[entity.index].syntax;
      if (variable.is_reference)
        refuse_feature("references to textures and surfaces, as " + variable.name + " is");
      auto const shared = places_.shared.variables.find(entity.index);
      return shared != places_.shared.variables.end() ? shared->second
                                                      : places_.addresses->variables[entity.index];
    }
    case entity_kind::dynamic_shared:
      return places_.shared.bytes;
    case entity_kind::function:
      refer_to(entity.index);
      return k_function_window + entity.index * k_function_stride;
    case entity_kind::builtin:
      break;
  }
  fail_unsupported("the address of a built-in function");
}

std::optional<std::uint64_t> decoding::upper_half_of(space space) const
{
  constexpr std::uint64_t k_upper = ~std::uint64_t{0xFFFFFFFF};
  if (space == space::local) return k_local_window;
  if (space != space::constant) return {};
  std::optional<std::uint64_t> upper;
  for (std::size_t i = 0; i < modules_.variables.size(); ++i) {
    if (modules_.variables[i].syntax->space != space::constant) continue;
    auto const found = places_.addresses->variables[i] & k_upper;
    if (upper && *upper != found) return {};
    upper = found;
  }
  return upper;
}

void decoding::refer_to(unsigned function_index)
{
  if (references_.insert(function_index).second) code_.references.push_back(function_index);
}

operand_offset decoding::destination(syntax::operand const& operand, type type)
{
  auto const width = register_width(type);
  if (operand.kind == operand_kind::sink) return new_register(width);
  if (operand.kind != operand_kind::register_) reject("the destination is not a register");
  reject_part(operand);
  auto const& declared = function_.registers[operand.index];
  if (declared.type == type::pred || register_width(declared.type) != width)
    reject(declared.name + " is of another width");
  return register_at(operand.index);
}

std::uint32_t decoding::predicate(std::size_t index)
{
  return predicate(operand(index));
}

std::uint32_t decoding::predicate(syntax::operand const& operand)
{
  if (operand.kind == operand_kind::integer) return operand.bits != 0 ? k_true : k_false;
  if (operand.kind == operand_kind::special) {
    auto const result = emit_special_predicate(*this, operand.name);
    if (result == k_no_operand) fail_unsupported("unknown special register " + operand.name);
    return result;
  }
  if (operand.kind != operand_kind::register_) reject("the operand is not a predicate");
  return predicate_at(operand.index) + (operand.negated ? 1 : 0);
}

std::uint32_t decoding::predicate_destination(syntax::operand const& operand)
{
  if (operand.kind == operand_kind::sink) return code_.predicates++ * 2;
  if (operand.kind != operand_kind::register_ || operand.negated)
    reject("the destination is not a predicate");
  return predicate_at(operand.index);
}

std::uint64_t decoding::integer(std::size_t index) const
{
  if (operand(index).kind != operand_kind::integer)
    fail_unsupported("the operand is not a constant");
  return operand(index).bits;
}

unsigned decoding::width_of(syntax::operand const& operand) const
{
  return is_register(operand) ? size_of(function_.registers[operand.index].type) : 0;
}

namespace {

// Features that the device does not support. Source: PTX ISA 9.0, "Instructions".

constexpr auto k_features = std::to_array<std::pair<std::string_view, char const*>>({
    {"istypep", "references to textures and surfaces"},
    {"wgmma", "matrix products of four warps (wgmma)"},
    {"tcgen05", "matrix products of sm_100 (tcgen05)"},
    {"multimem", "multicast memory"},
    {"tensormap", "tensor maps (TMA)"},
    {"clusterlaunchcontrol", "cluster launch control"},
});

}  // namespace

std::span<std::pair<std::string_view, char const*> const> unsupported_instructions() noexcept
{
  return k_features;
}

char const* unsupported_feature(std::string_view name) noexcept
{
  for (auto const& [instruction, feature] : k_features)
    if (instruction == name) return feature;
  return nullptr;
}

// The exception.

code_error::code_error(error_kind kind, std::string const& message, std::string source,
                       unsigned line, std::string location, std::string hint)
    : std::runtime_error(detail::printable(line_of(message))),
      kind_(kind),
      source_(std::move(source)),
      line_(line),
      location_(std::move(location)),
      hint_(std::move(hint))
{
}

}  // namespace fatlink::interpreter
