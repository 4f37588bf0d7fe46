// SPDX-License-Identifier: Apache-2.0
// Instructions without an effect on results: hints to the scheduler, to the grid that follows, and
// to profilers. Source: PTX ISA 9.0, "griddepcontrol", "pmevent", "setmaxnreg".
#include "interpreter/decode/decoder.hpp"
#include "interpreter/instructions/control/no_effect.hpp"

namespace fatlink::interpreter {
namespace {

/// Kernels run one after the other, so the grids that one depends on have ended.
void decode_grid_control(decoding& d)
{
  if (!d.take("launch_dependents") && !d.take("wait"))
    d.refuse("neither .launch_dependents nor .wait");
  d.expect_count(0, 0);
  d.emit(&do_nothing);
}

void decode_event(decoding& d)
{
  (void)d.take("mask");
  d.expect_count(1, 1);
  (void)d.integer(0);
  d.emit(&do_nothing);
}

/// The device has any number of registers.
void decode_register_count(decoding& d)
{
  if (d.take_type() != type::u32 || (!d.take("inc") && !d.take("dec"))) d.refuse();
  if (!d.take("sync") || !d.take("aligned")) d.refuse();
  d.expect_count(1, 1);
  (void)d.integer(0);
  d.emit(&do_nothing);
}

}  // namespace

void add_hints(decode_table& table)
{
  table["griddepcontrol"] = &decode_grid_control;
  table["pmevent"] = &decode_event;
  table["setmaxnreg"] = &decode_register_count;
}

}  // namespace fatlink::interpreter
