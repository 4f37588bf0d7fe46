// SPDX-License-Identifier: Apache-2.0
// What a function's frame holds besides registers: variables, parameters and results.
#include <algorithm>

#include "interpreter/decode/alignment.hpp"
#include "interpreter/decode/decoder.hpp"
#include "util/limits.hpp"

namespace fatlink::interpreter {
namespace {

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
      throw failure(fault::refused,
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
      refuse("the parameter " + parameter.name + " is a reference to a texture or surface");
  if (function_.error.reason.empty()) return;
  auto const& [line, statement, reason] = function_.error;
  throw failure(fault::syntax,
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

}  // namespace fatlink::interpreter
