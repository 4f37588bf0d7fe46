// SPDX-License-Identifier: Apache-2.0
// Elements that the libraries of algorithms move without knowing their type: bytes of a size.
// fatlink_element_N has N bytes and is aligned to N, at most to 16. Contracts pass these by value,
// so one library serves all types of a size. `fatlink_element` is the one of
// FATLINK_ELEMENT_BYTES, which the contract defines.
#pragma once

struct alignas(1) fatlink_element_1 {
  unsigned char words[1];
};
struct alignas(2) fatlink_element_2 {
  unsigned short words[1];
};
struct alignas(4) fatlink_element_4 {
  unsigned words[1];
};
struct alignas(8) fatlink_element_8 {
  unsigned words[2];
};
struct alignas(16) fatlink_element_16 {
  unsigned words[4];
};
struct alignas(16) fatlink_element_32 {
  unsigned words[8];
};

#ifdef FATLINK_ELEMENT_BYTES
#define FATLINK_DETAIL_JOIN(a, b) a##b
#define FATLINK_DETAIL_ELEMENT(bytes) FATLINK_DETAIL_JOIN(fatlink_element_, bytes)
using fatlink_element = FATLINK_DETAIL_ELEMENT(FATLINK_ELEMENT_BYTES);
#endif
