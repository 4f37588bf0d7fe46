// SPDX-License-Identifier: Apache-2.0
// The members of folder that write, rename and remove.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "cache/folder.hpp"
#include "cache/temporary_file.hpp"
#include "util/files/output_file.hpp"
#include "util/process/signal_guard.hpp"

namespace fatlink::cache {

void folder::remove_and_fail(std::string const& file, char const* action,
                             std::string const& name) const
{
  auto const code = errno;
  ::unlinkat(descriptor(), file.c_str(), 0);
  errno = code;
  fail(action, name);
}

void folder::write_temporary(std::string const& file, std::string const& name,
                             bytes_view bytes) const
{
  detail::descriptor opened(create(file, kind_ == kind::own ? 0600U : 0644U));
  if (opened.get() < 0) fail("writing", name);
  auto const is_written =
      (kind_ == kind::own || ::fchmod(opened.get(), 0644) == 0) &&  // whatever the umask
      detail::write_all(opened.get(), bytes) &&
      opened.close() == 0;  // network file systems may report a write error only here
  if (!is_written) remove_and_fail(file, "writing", name);
}

/// Renames the temporary file `file` to `name`. A folder in its place is removed first.
void folder::rename_over(std::string const& file, std::string const& name) const
{
  auto const rename = [&] {
    return ::renameat(descriptor(), file.c_str(), descriptor(), name.c_str()) == 0;
  };
  if (rename()) return;
  if (errno != EISDIR) remove_and_fail(file, "renaming a temporary file to", name);
  try {
    remove_any(name);
  } catch (fault const& refusal) {
    errno = refusal.code;
    remove_and_fail(file, "replacing", name);
  }
  if (!rename()) remove_and_fail(file, "renaming a temporary file to", name);
}

void folder::write(std::string const& name, bytes_view bytes) const
{
  detail::signal_guard const guard(SIGXFSZ);
  detail::temporary_name const temporary(descriptor(), temporary_file_of(name));
  write_temporary(temporary.path(), name, bytes);
  rename_over(temporary.path(), name);
}

int folder::create(std::string const& name, unsigned mode) const noexcept
{
  return detail::avoid_standard_streams(::openat(
      descriptor(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
}

void folder::write_over(std::string const& name, bytes_view bytes) const
{
  detail::signal_guard const guard(SIGXFSZ);
  remove_obstacle(name);
  auto file = facts(name);
  if (file && file->size != bytes.size()) remove(name);
  auto const can_overwrite = file && file->size == bytes.size();
  detail::descriptor const opened(
      can_overwrite
          ? detail::avoid_standard_streams(::openat(descriptor(), name.c_str(),
                                                    O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK))
          : create(name, 0600));
  if (opened.get() < 0) fail("opening", name);
  if (!detail::write_all(opened.get(), bytes)) fail("writing", name);
}

void folder::remove_any(std::string const& name) const
{
  if (::unlinkat(descriptor(), name.c_str(), 0) == 0 || errno == ENOENT) return;
  if (errno != EISDIR) fail("removing", name);
  if (::unlinkat(descriptor(), name.c_str(), AT_REMOVEDIR) == 0) return;
  if (errno != ENOTEMPTY && errno != EEXIST) fail("removing", name);
  auto const aside = detail::add_random(name) + ".aside";
  if (::renameat(descriptor(), name.c_str(), descriptor(), aside.c_str()) != 0)
    fail("renaming", name);
}

void folder::remove_obstacle(std::string const& name) const
{
  auto const file = status(name);
  if (!file) return;
  auto const is_own = S_ISREG(file->st_mode) && file->st_nlink == 1 && is_trusted(file->st_uid) &&
                      !may_others_write(*file);
  if (!is_own) remove_any(name);
}

bool folder::remove(std::string const& name) const
{
  if (::unlinkat(descriptor(), name.c_str(), 0) == 0) return true;
  if (errno == ENOENT) return false;
  fail("removing", name);
}

}  // namespace fatlink::cache
