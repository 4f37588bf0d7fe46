// SPDX-License-Identifier: Apache-2.0
#include "seccomp.hpp"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <iterator>

namespace fatlink {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t k_architecture = AUDIT_ARCH_X86_64;
constexpr std::uint32_t k_other_table = 0x40000000;  // the bit in the numbers of x32's calls
#elif defined(__aarch64__)
constexpr std::uint32_t k_architecture = AUDIT_ARCH_AARCH64;
constexpr std::uint32_t k_other_table = 0;  // there is none: arm32 is another architecture
#else
#error "the filter of system calls is written for x86-64 and AArch64"
#endif

/// The flags with which the C library starts a thread, and no others.
constexpr std::uint64_t k_thread_flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
                                         CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
                                         CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;

argument_test is_not_executable(unsigned index)
{
  return {.index = index, .mask = PROT_EXEC, .value = 0};
}

argument_test is_null(unsigned index)
{
  return {.index = index};
}

/// Allows the clocks of the system; negative numbers are clocks of other processes.
argument_test is_clock_of_everyone(unsigned index)
{
  return {.index = index, .mask = 0xfffffff0, .value = 0};
}

void append(std::vector<call_rule>& rules, std::vector<call_rule> const& added_rules)
{
  rules.insert(rules.end(), added_rules.begin(), added_rules.end());
}

/// The socket, and the file that collects printed output; only that file can be truncated.
std::vector<call_rule> calls_on_open_descriptors()
{
  return
  {
    {SYS_read}, {SYS_write}, {SYS_writev}, {SYS_pread64},
#if defined(SYS_poll)
        {SYS_poll},
#else
        {SYS_ppoll},                        // poll() of AArch64
#endif
        {SYS_lseek}, {SYS_fstat},
    {
      SYS_ftruncate,
      {
        is_equal(0, STDERR_FILENO), is_null(1)
      }
    }
  };
}

std::vector<call_rule> calls_for_memory()
{
  return {{SYS_brk},
          {SYS_mmap, {is_not_executable(2), {3, MAP_ANONYMOUS, MAP_ANONYMOUS}}},
          {SYS_munmap},
          {SYS_mremap},
          {SYS_mprotect, {is_not_executable(2)}},
          {SYS_madvise},
          {SYS_sysinfo}};  // qsort asks for the size of the memory
}

/// The C library tries clone3 first, whose flags a filter cannot read, and clone after ENOSYS.
std::vector<call_rule> calls_for_threads()
{
  return {{SYS_futex},
          {SYS_gettid},
          {SYS_getpid},
          {SYS_sched_yield},
          {SYS_sched_getaffinity, {is_equal(0, 0)}},
          {SYS_clone, {{.index = 0, .value = k_thread_flags}}},
          {SYS_clone3, {}, ENOSYS},
          {SYS_set_robust_list},
          {SYS_rseq},
          {SYS_prctl, {is_equal(0, PR_SET_NAME)}},
          {SYS_prlimit64, {is_equal(0, 0), is_null(2)}}};
}

/// abort() sends its signal with tgkill.
std::vector<call_rule> calls_for_signals_and_end()
{
  return
  {
    {SYS_rt_sigprocmask}, {SYS_rt_sigaction}, {SYS_rt_sigreturn}, {SYS_sigaltstack},
        {SYS_restart_syscall}, {SYS_tgkill, {is_equal(0, static_cast<std::uint32_t>(::getpid()))}},
#if defined(SYS_alarm)
        {SYS_alarm},
#else
        {SYS_setitimer, {is_equal(0, ITIMER_REAL)}},  // alarm() of AArch64
#endif
        {SYS_exit},
    {
      SYS_exit_group
    }
  };
}

std::vector<call_rule> calls_for_clocks_and_random_numbers()
{
  return
  {
    {SYS_clock_gettime, {is_clock_of_everyone(0)}}, {SYS_clock_getres, {is_clock_of_everyone(0)}},
        {SYS_gettimeofday},
#if defined(SYS_time)
        {SYS_time},
#endif
        {SYS_clock_nanosleep, {is_clock_of_everyone(0)}}, {SYS_nanosleep},
    {
      SYS_getrandom
    }
  };
}

/// How the sanitizers find the stack of a thread, and whether an object's memory is there.
std::vector<call_rule> calls_of_sanitizers()
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return {{SYS_sched_getaffinity}, {SYS_pipe2}, {SYS_close}};
#else
  return {};
#endif
}

}  // namespace

std::vector<call_rule> calls_of_tool_process()
{
  auto rules = calls_for_threads();
  append(rules, calls_of_sanitizers());
  append(rules, calls_for_memory());
  append(rules, calls_on_open_descriptors());
  append(rules, calls_for_signals_and_end());
  append(rules, calls_for_clocks_and_random_numbers());
  return rules;
}

std::vector<call_rule> calls_of_guardian(pid_t tool_process)
{
  std::vector<call_rule> rules{
      {SYS_ppoll},
      {SYS_wait4},
      {SYS_getppid},
      {SYS_kill, {is_equal(0, static_cast<std::uint32_t>(tool_process)), is_equal(1, SIGKILL)}},
      {SYS_write},
      {SYS_rt_sigreturn},
      {SYS_restart_syscall},
      {SYS_clock_nanosleep},  // a thread of the thread sanitizer
      {SYS_exit_group}};
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  append(rules, calls_for_memory());  // for what they record of each call
  append(rules, calls_for_threads());
  append(rules,
         {{SYS_sigaltstack}});  // exit_group: the address sanitizer marks its stacks as usable
#endif
  return rules;
}

namespace {

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
                                   {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, k_architecture},
                                   result(SECCOMP_RET_KILL_PROCESS),
                                   load(offsetof(seccomp_data, nr)),
                                   {BPF_JMP | BPF_JSET | BPF_K, 0, 1, k_other_table},
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
