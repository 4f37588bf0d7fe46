// SPDX-License-Identifier: Apache-2.0
// clang-format off
struct best { float value; int index; };
FATLINK_COMBINE(best, a, b) { return b.value > a.value ? b : a; }
