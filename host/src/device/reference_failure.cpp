// SPDX-License-Identifier: Apache-2.0
#include "device/reference_failure.hpp"

#include "fatlink/error.hpp"

namespace fatlink::detail {
namespace {

/// The code of the error that reports a fault.
error_code code_of(interpreter::fault kind) noexcept
{
  switch (kind) {
    case interpreter::fault::syntax:
      return error_code::invalid_ptx;
    case interpreter::fault::refused:
      return error_code::refused_instruction;
    case interpreter::fault::invalid:
      return error_code::invalid_instruction;
    case interpreter::fault::unresolved:
      return error_code::unresolved_symbol;
    case interpreter::fault::duplicate:
      return error_code::duplicate_symbol;
    case interpreter::fault::prototype:
      return error_code::prototype_mismatch;
    case interpreter::fault::no_kernel:
      return error_code::unknown_kernel;
    case interpreter::fault::launch:
      return error_code::invalid_launch;
    case interpreter::fault::memory:
      return error_code::out_of_memory;
    case interpreter::fault::address:
      return error_code::illegal_address;
    case interpreter::fault::endless:
      return error_code::endless_kernel;
    case interpreter::fault::deadlock:
      return error_code::deadlock;
    case interpreter::fault::trap:
      return error_code::trap;
    case interpreter::fault::race:
      return error_code::write_race;
    case interpreter::fault::uninitialized:
      return error_code::uninitialized_read;
  }
  return error_code::defect;
}

char const* remedy_of_kind(interpreter::failure const& failure) noexcept
{
  switch (failure.kind()) {
    case interpreter::fault::syntax:
      return "check it with ptxas, from which it comes or which takes it; if ptxas accepts it, "
             "report it with the inputs";
    case interpreter::fault::refused:
      return "the reference device has no texture references, tensor maps, multicast memory or "
             "products of several warps; run it on a GPU";
    case interpreter::fault::invalid:
      return "fix the device code that made this PTX";
    case interpreter::fault::unresolved:
      return "pass the input that defines it";
    case interpreter::fault::duplicate:
      return "pass only one input that defines it";
    case interpreter::fault::prototype:
      return "fix the type: every declaration and definition of the function must be the same";
    case interpreter::fault::no_kernel:
      return "<ptx_interface::kernels> lists the kernels of a fatbin";
    case interpreter::fault::launch:
      return "check the grid, block and arguments that the host program passes";
    case interpreter::fault::memory:
      return "allocate less memory";
    case interpreter::fault::endless:
      return "fix the loop, or raise <cpu_options::instruction_budget> (0: no limit)";
    default:
      return failure.location().empty()
                 ? "fix the device code; compile with line information (nvcc -lineinfo, fatlink "
                   "compile --line-info) to see source lines (for lto mode, the library too)"
                 : "fix the device code";
  }
}

std::string remedy(interpreter::failure const& failure)
{
  return failure.hint().empty() ? remedy_of_kind(failure) : failure.hint();
}

}  // namespace

void throw_error(interpreter::failure const& failure)
{
  error_details details{.message = failure.what(),
                        .input = failure.source(),
                        .code = code_of(failure.kind()),
                        .hint = remedy(failure)};
  switch (failure.kind()) {
    case interpreter::fault::syntax:
    case interpreter::fault::no_kernel:
      throw file_error(stage::device, details);
    case interpreter::fault::invalid:
    case interpreter::fault::unresolved:
    case interpreter::fault::duplicate:
    case interpreter::fault::prototype:
      throw link_error(stage::linker, details);
    case interpreter::fault::refused:
      throw unavailable_error(stage::device, details);
    default:
      throw device_error(stage::device, details);
  }
}

}  // namespace fatlink::detail
