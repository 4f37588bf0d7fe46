// SPDX-License-Identifier: Apache-2.0
#include "sandbox.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace fatlink {
namespace {

constexpr std::array k_forbidden{SYS_open,
                                 SYS_openat,
                                 SYS_openat2,
                                 SYS_creat,
                                 SYS_socket,
                                 SYS_socketpair,
                                 SYS_connect,
                                 SYS_bind,
                                 SYS_listen,
                                 SYS_accept,
                                 SYS_accept4,
                                 SYS_sendto,
                                 SYS_sendmsg,
                                 SYS_execve,
                                 SYS_execveat,
                                 SYS_ptrace,
                                 SYS_kill,
                                 SYS_unlink,
                                 SYS_unlinkat,
                                 SYS_rename,
                                 SYS_renameat,
                                 SYS_renameat2,
                                 SYS_mkdir,
                                 SYS_mkdirat,
                                 SYS_rmdir,
                                 SYS_link,
                                 SYS_linkat,
                                 SYS_symlink,
                                 SYS_symlinkat,
                                 SYS_chmod,
                                 SYS_fchmodat,
                                 SYS_chown,
                                 SYS_lchown,
                                 SYS_fchownat,
                                 SYS_truncate,
                                 SYS_mknod,
                                 SYS_mknodat,
                                 SYS_mount,
                                 SYS_umount2,
                                 SYS_chroot,
                                 SYS_setxattr,
                                 SYS_bpf,
                                 SYS_io_uring_setup,
                                 SYS_process_vm_readv,
                                 SYS_process_vm_writev};

void limit(int what, rlim_t most) noexcept
{
  rlimit both{};
  if (::getrlimit(static_cast<__rlimit_resource>(what), &both) != 0) return;
  both.rlim_cur = both.rlim_max = std::min(both.rlim_max, most);
  (void)::setrlimit(static_cast<__rlimit_resource>(what), &both);
}

sock_filter statement(std::uint16_t code, std::uint32_t value) noexcept
{
  return {code, 0, 0, value};
}

}  // namespace

void limit_resources() noexcept
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they map terabytes
  limit(RLIMIT_AS, rlim_t{8} << 30);
#endif
  limit(RLIMIT_NOFILE, 64);
  limit(RLIMIT_FSIZE, rlim_t{16} << 20);
  limit(RLIMIT_CORE, 0);
}

void forbid_files_and_network() noexcept
{
  constexpr auto k_count = k_forbidden.size();
  std::array<sock_filter, k_count + 6> program{};
  std::size_t at = 0;
  auto const refuse = statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  program[at++] = statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch));
  program[at++] = {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, AUDIT_ARCH_X86_64};
  program[at++] = refuse;  // another architecture's call numbers
  program[at++] = statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  for (std::size_t i = 0; i < k_count; ++i)
    program[at++] = {BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint8_t>(k_count - i), 0,
                     static_cast<std::uint32_t>(k_forbidden[i])};
  program[at++] = statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  program[at++] = refuse;
  sock_fprog const filter{static_cast<unsigned short>(at), program.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  (void)::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

}  // namespace fatlink
