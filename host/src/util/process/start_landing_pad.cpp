// SPDX-License-Identifier: Apache-2.0
// A program's entry point, with the landing pad that landing_pads.cpp explains.

__asm__(R"(
  .text
  .globl  fatlink_start
  .hidden fatlink_start
fatlink_start:
  endbr64
  jmp _start
)");
