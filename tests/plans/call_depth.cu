// SPDX-License-Identifier: Apache-2.0
// An operator for combine_N that counts calls in a row: of elements that are 0, a result is the
// largest number of calls by which it depends on an element.
struct __align__(FATLINK_ELEMENT_BYTES < 16 ? FATLINK_ELEMENT_BYTES : 16) call_depth
{
  unsigned calls[FATLINK_ELEMENT_BYTES / 4];
};

FATLINK_COMBINE(call_depth, a, b)
{
  call_depth result{};
  result.calls[0] = 1 + (a.calls[0] < b.calls[0] ? b.calls[0] : a.calls[0]);
  return result;
}
