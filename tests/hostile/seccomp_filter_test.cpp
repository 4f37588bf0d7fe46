// SPDX-License-Identifier: Apache-2.0
// The filters of the helper's two processes, executed as the kernel executes them, for each number
// of a system call. test_sandbox.py attacks the helper behind the real filter; this test also runs
// in emulators, which have none. Numbers: arch/x86/entry/syscalls/syscall_64.tbl and
// include/uapi/asm-generic/unistd.h of Linux 6.12.
#include "host/linkd/seccomp.hpp"

#include <gmock/gmock.h>
#include <linux/audit.h>
#include <linux/seccomp.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "sanitizers.hpp"

namespace fatlink {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t k_own_architecture = 0xC000003E;
constexpr std::uint32_t k_compatible_architecture = 0x40000003;  // i386
constexpr bool k_is_arm = false;
#else
constexpr std::uint32_t k_own_architecture = 0xC00000B7;
constexpr std::uint32_t k_compatible_architecture = 0x40000028;  // arm
constexpr bool k_is_arm = true;
#endif

constexpr int k_none = -1;

struct known_call {
  char const* name;
  int x86_64;
  int aarch64;
};

constexpr known_call k_tool_calls[]{
    {"read", 0, 63},
    {"write", 1, 64},
    {"fstat", 5, 80},
    {"poll", 7, k_none},
    {"ppoll", k_none, 73},
    {"lseek", 8, 62},
    {"mmap", 9, 222},
    {"mprotect", 10, 226},
    {"munmap", 11, 215},
    {"brk", 12, 214},
    {"rt_sigaction", 13, 134},
    {"rt_sigprocmask", 14, 135},
    {"rt_sigreturn", 15, 139},
    {"pread64", 17, 67},
    {"writev", 20, 66},
    {"sched_yield", 24, 124},
    {"mremap", 25, 216},
    {"madvise", 28, 233},
    {"nanosleep", 35, 101},
    {"alarm", 37, k_none},
    {"setitimer", k_none, 103},
    {"getpid", 39, 172},
    {"clone", 56, 220},
    {"exit", 60, 93},
    {"ftruncate", 77, 46},
    {"gettimeofday", 96, 169},
    {"sysinfo", 99, 179},
    {"sigaltstack", 131, 132},
    {"prctl", 157, 167},
    {"gettid", 186, 178},
    {"time", 201, k_none},
    {"futex", 202, 98},
    {"sched_getaffinity", 204, 123},
    {"restart_syscall", 219, 128},
    {"clock_gettime", 228, 113},
    {"clock_getres", 229, 114},
    {"clock_nanosleep", 230, 115},
    {"exit_group", 231, 94},
    {"tgkill", 234, 131},
    {"set_robust_list", 273, 99},
    {"prlimit64", 302, 261},
    {"getrandom", 318, 278},
    {"rseq", 334, 293},
    {"clone3", 435, 435},
};

constexpr known_call k_guardian_calls[]{
    {"write", 1, 64},
    {"rt_sigreturn", 15, 139},
    {"wait4", 61, 260},
    {"kill", 62, 129},
    {"getppid", 110, 173},
    {"restart_syscall", 219, 128},
    {"clock_nanosleep", 230, 115},
    {"exit_group", 231, 94},
    {"ppoll", 271, 73},
};

template <std::size_t Count>
std::set<long> numbers_of(known_call const (&calls)[Count])
{
  std::set<long> numbers;
  for (auto const& call : calls) numbers.insert(k_is_arm ? call.aarch64 : call.x86_64);
  numbers.erase(k_none);
  return numbers;
}

/// What the kernel returns for `program`: only the instructions that seccomp_program() writes.
std::uint32_t execute(std::vector<sock_filter> const& program, seccomp_data const& data)
{
  std::uint32_t accumulator = 0;
  for (std::size_t i = 0; i < program.size(); ++i) {
    auto const& [code, if_true, if_false, value] = program[i];
    switch (code) {
      case BPF_LD | BPF_W | BPF_ABS:
        std::memcpy(&accumulator, reinterpret_cast<std::byte const*>(&data) + value, 4);
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        accumulator &= value;
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        i += accumulator == value ? if_true : if_false;
        break;
      case BPF_JMP | BPF_JSET | BPF_K:
        i += (accumulator & value) != 0 ? if_true : if_false;
        break;
      case BPF_RET | BPF_K:
        return value;
      default:
        ADD_FAILURE() << "unknown instruction " << code;
        return 0;
    }
  }
  ADD_FAILURE() << "no result";
  return 0;
}

/// A call of this architecture whose arguments are all ones.
seccomp_data call_of(long number)
{
  seccomp_data data{};
  data.nr = static_cast<int>(number);
  data.arch = k_own_architecture;
  for (auto& argument : data.args) argument = ~std::uint64_t{0};
  return data;
}

/// A call that passes the tests of `rule`.
seccomp_data call_of(call_rule const& rule)
{
  auto data = call_of(rule.number);
  for (auto const& test : rule.tests) data.args[test.index] = test.value;
  return data;
}

constexpr std::uint32_t refused(int error)
{
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
}

struct filter_case {
  char const* name;
  std::vector<call_rule> rules;
  std::set<long> numbers;
};

class SeccompFilter : public testing::Test {
 protected:
  void SetUp() override
  {
    if (fixtures::k_has_sanitizer) GTEST_SKIP() << "the sanitizers need more calls";
  }

  std::vector<filter_case> const cases_{
      {"tool process", calls_of_tool_process(), numbers_of(k_tool_calls)},
      {"guardian", calls_of_guardian(4711), numbers_of(k_guardian_calls)}};
};

TEST_F(SeccompFilter, HasRulesForTheCallsOfTheKernelsTable)
{
  for (auto const& [name, rules, numbers] : cases_) {
    std::set<long> ruled;
    for (auto const& rule : rules) ruled.insert(rule.number);
    EXPECT_EQ(ruled, numbers) << name;
  }
}

TEST_F(SeccompFilter, AllowsACallThatPassesTheTestsOfItsRule)
{
  for (auto const& [name, rules, numbers] : cases_)
    for (auto const& rule : rules)
      EXPECT_EQ(execute(seccomp_program(rules), call_of(rule)),
                rule.error == 0 ? SECCOMP_RET_ALLOW : refused(rule.error))
          << name << ' ' << rule.number;
}

TEST_F(SeccompFilter, RefusesACallThatFailsATestOfItsRule)
{
  for (auto const& [name, rules, numbers] : cases_)
    for (auto const& rule : rules)
      if (!rule.tests.empty()) {
        EXPECT_EQ(execute(seccomp_program(rules), call_of(rule.number)), refused(EPERM))
            << name << ' ' << rule.number;
      }
}

TEST_F(SeccompFilter, RefusesEveryOtherNumber)
{
  for (auto const& [name, rules, numbers] : cases_)
    for (long number = 0; number < 1024; ++number)
      if (!numbers.contains(number)) {
        EXPECT_EQ(execute(seccomp_program(rules), call_of(number)), refused(EPERM))
            << name << ' ' << number;
      }
}

TEST_F(SeccompFilter, EndsAProcessThatMakesACallOfAnotherTable)
{
  for (auto const& [name, rules, numbers] : cases_) {
    auto call = call_of(rules.front());
    call.arch = k_compatible_architecture;
    EXPECT_EQ(execute(seccomp_program(rules), call), SECCOMP_RET_KILL_PROCESS) << name;
    call.arch = k_is_arm ? 0xC000003E : 0xC00000B7;
    EXPECT_EQ(execute(seccomp_program(rules), call), SECCOMP_RET_KILL_PROCESS) << name;
    if (k_is_arm) continue;
    EXPECT_EQ(execute(seccomp_program(rules), call_of(rules.front().number | 0x40000000)),
              SECCOMP_RET_KILL_PROCESS)
        << name;
  }
}

}  // namespace
}  // namespace fatlink
