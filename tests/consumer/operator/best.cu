// SPDX-License-Identifier: Apache-2.0
// clang-format off: the lines are those of a first look
struct best {
  float value;
  int index;
};
FATLINK_COMBINE(best, a, b)
{
  return b.value > a.value ? b : a;
}
