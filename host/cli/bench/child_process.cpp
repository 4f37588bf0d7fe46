// SPDX-License-Identifier: Apache-2.0
#include "bench/child_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/process/stopwatch.hpp"

extern char** environ;

namespace fatlink::cli {
namespace {

std::string read_to_end(int descriptor)
{
  std::string text;
  char buffer[4096];
  for (ssize_t size = 0; (size = ::read(descriptor, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(size));
  return text;
}

/// During its lifetime, processes whose parent ended become children of this process.
class subreaper {
 public:
  subreaper() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~subreaper() { ::prctl(PR_SET_CHILD_SUBREAPER, 0); }
  subreaper(subreaper const&) = delete;
  subreaper& operator=(subreaper const&) = delete;
};

/// Starts `file` in a process group of its own and with `output` as its standard output; returns
/// its process ID, or 0 if it cannot be started.
pid_t start(std::string const& file, std::vector<std::string>& words, int output)
{
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t process = 0;
  auto const code =
      ::posix_spawn(&process, file.c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return code == 0 ? process : 0;
}

double milliseconds(timeval const& time)
{
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) * 1e-3;
}

/// Waits for a process of `group`; a group is negative. Returns whether there was one.
bool wait_for(pid_t group, int& status, double& cpu_ms)
{
  rusage usage = {};
  if (::wait4(group, &status, 0, &usage) <= 0) return false;
  cpu_ms += milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
  return true;
}

}  // namespace

child_result run_child(std::string const& file, std::vector<std::string> words)
{
  child_result result;
  int pipe_ends[2];
  if (::pipe2(pipe_ends, O_CLOEXEC) != 0) return result;
  subreaper const orphans;
  detail::stopwatch watch;
  auto const process = start(file, words, pipe_ends[1]);
  ::close(pipe_ends[1]);
  if (process != 0) result.output = read_to_end(pipe_ends[0]);
  ::close(pipe_ends[0]);
  if (process == 0) return result;
  int status = 0;
  result.has_succeeded = wait_for(process, status, result.cpu_ms) && status == 0;
  result.ms = watch.lap();
  while (wait_for(-process, status, result.cpu_ms)) {
  }
  return result;
}

}  // namespace fatlink::cli
