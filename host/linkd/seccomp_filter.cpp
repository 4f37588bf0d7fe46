// SPDX-License-Identifier: Apache-2.0
#include "seccomp_filter.hpp"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <iterator>

namespace fatlink {
namespace {

constexpr std::uint32_t k_x32_bit = 0x40000000;
constexpr std::uint32_t k_whole_word = 0xffffffff;

sock_filter statement(std::uint16_t code, std::uint32_t value)
{
  return {code, 0, 0, value};
}

sock_filter load(std::size_t offset)
{
  return statement(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

sock_filter result(std::uint32_t action)
{
  return statement(BPF_RET | BPF_K, action);
}

sock_filter refusal(int error)
{
  return result(SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(error) & SECCOMP_RET_DATA));
}

/// Appends the comparison of one half of an argument. A mismatch jumps to the end of the block; its
/// distance is set later.
void append_comparison(std::vector<sock_filter>& block, std::size_t offset, std::uint32_t mask,
                       std::uint32_t value)
{
  if (mask == 0) return;
  block.push_back(load(offset));
  if (mask != k_whole_word) block.push_back(statement(BPF_ALU | BPF_AND | BPF_K, mask));
  block.push_back(statement(BPF_JMP | BPF_JEQ | BPF_K, value));
}

void append_test(std::vector<sock_filter>& block, argument_test const& test)
{
  auto const offset = offsetof(seccomp_data, args) + test.index * sizeof(std::uint64_t);
  append_comparison(block, offset, static_cast<std::uint32_t>(test.mask),
                    static_cast<std::uint32_t>(test.value));
  append_comparison(block, offset + sizeof(std::uint32_t),
                    static_cast<std::uint32_t>(test.mask >> 32),
                    static_cast<std::uint32_t>(test.value >> 32));
}

/// Lets each comparison that fails continue behind the block, with the next rule.
void set_distances(std::vector<sock_filter>& block)
{
  for (std::size_t i = 0; i < block.size(); ++i)
    if (BPF_CLASS(block[i].code) == BPF_JMP)
      block[i].jf = static_cast<std::uint8_t>(block.size() - i - 1);
}

std::vector<sock_filter> block_of(call_rule const& rule)
{
  std::vector<sock_filter> block{
      load(offsetof(seccomp_data, nr)),
      statement(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(rule.number))};
  for (auto const& test : rule.tests) append_test(block, test);
  block.push_back(rule.error == 0 ? result(SECCOMP_RET_ALLOW) : refusal(rule.error));
  set_distances(block);
  return block;
}

}  // namespace

argument_test is_equal(unsigned index, std::uint32_t value)
{
  return {.index = index, .mask = k_whole_word, .value = value};
}

std::vector<sock_filter> seccomp_program(std::vector<call_rule> const& rules)
{
  std::vector<sock_filter> program{load(offsetof(seccomp_data, arch)),
                                   {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, AUDIT_ARCH_X86_64},
                                   result(SECCOMP_RET_KILL_PROCESS),
                                   load(offsetof(seccomp_data, nr)),
                                   {BPF_JMP | BPF_JSET | BPF_K, 0, 1, k_x32_bit},
                                   result(SECCOMP_RET_KILL_PROCESS)};
  for (auto const& rule : rules) {
    auto const block = block_of(rule);
    program.insert(program.end(), block.begin(), block.end());
  }
  program.push_back(refusal(EPERM));
  return program;
}

int install_seccomp_filter(std::vector<sock_filter> program)
{
  sock_fprog const filter{static_cast<unsigned short>(program.size()), program.data()};
  auto const status =
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
  if (status < 0) return errno;
  return status == 0 ? 0 : ESRCH;  // the number of a thread that cannot be confined
}

}  // namespace fatlink
