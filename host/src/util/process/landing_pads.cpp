// SPDX-License-Identifier: Apache-2.0
// Entry points with landing pads for Intel's control-flow enforcement. A binary may state IBT and
// SHSTK only if every instruction that is reached by an indirect jump is ENDBR64. Some C libraries'
// start files (crt1.o, crti.o: Debian's) lack it in _start, _init and _fini, which the loader
// reaches so. cmake/build/compiler.cmake adds this file, and names these functions to the linker,
// only where the start files are all that lacks the property.

__asm__(R"(
  .text
  .globl  fatlink_init
  .hidden fatlink_init
fatlink_init:
  endbr64
  jmp _init

  .globl  fatlink_fini
  .hidden fatlink_fini
fatlink_fini:
  endbr64
  jmp _fini
)");
