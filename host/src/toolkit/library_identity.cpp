// SPDX-License-Identifier: Apache-2.0
#include "toolkit/library_identity.hpp"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "toolkit/elf_file.hpp"
#include "util/bytes/elf_reader.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

struct mapped_search {
  std::uintptr_t address;
  std::string build_id;
};

/// Callback of dl_iterate_phdr: returns 1, which ends the iteration, for the object that holds the
/// address.
int look_for_build_id(dl_phdr_info* object, std::size_t, void* data)
{
  auto& search = *static_cast<mapped_search*>(data);
  auto const segments = std::span(object->dlpi_phdr, object->dlpi_phnum);
  auto const has_address = [&](auto const& segment) {
    auto const begin = object->dlpi_addr + segment.p_vaddr;
    return segment.p_type == PT_LOAD && search.address >= begin &&
           search.address - begin < segment.p_memsz;
  };
  if (std::none_of(segments.begin(), segments.end(), has_address)) return 0;
  for (auto const& segment : segments)
    if (segment.p_type == PT_NOTE && search.build_id.empty())
      search.build_id =
          build_id_in({reinterpret_cast<std::byte const*>(object->dlpi_addr + segment.p_vaddr),
                       static_cast<std::size_t>(segment.p_filesz)});
  return 1;
}

/// The newest version among exported `names` that begin with `prefix`; -1 if there is none.
int newest_minor(std::string const& names, std::string_view prefix)
{
  int newest = -1;
  for (auto position = names.find(prefix); position != std::string::npos;
       position = names.find(prefix, position + 1)) {
    int minor = -1;
    auto const* const digits = names.data() + position + prefix.size();
    std::from_chars(digits, names.data() + names.size(), minor);
    newest = std::max(newest, minor);
  }
  return newest;
}

/// The version of `library` whose exported names these are; empty if they are another library's.
std::optional<std::string> version_in(std::string const& names, vendor_library const& library)
{
  for (auto const* function : library.functions)
    if (names.find(function) == std::string::npos) return std::nullopt;
  auto const unknown = detail::format("{}.?", library.major);
  if (library.versioned_name.empty()) return unknown;
  auto const minor =
      newest_minor(names, detail::format("__{}_{}_", library.versioned_name, library.major));
  if (minor >= 0) return detail::format("{}.{}", library.major, minor);
  auto const has_other_versions =
      names.find(detail::format("__{}_", library.versioned_name)) != std::string::npos;
  return has_other_versions ? std::nullopt : std::optional(unknown);
}

}  // namespace

std::optional<std::string> library_identity(std::string const& path, vendor_library const& library)
try {
  if (::access(path.c_str(), R_OK) != 0) return std::nullopt;
  elf_file const file(path);
  if (file.is_truncated()) return std::nullopt;
  auto const version = version_in(file.names(), library);
  if (!version) return std::nullopt;
  auto const build_id = file.build_id();
  return detail::format("{} {} {}", *version, build_id.empty() ? file.sha256() : build_id,
                        file.size());
} catch (file_error const&) {
  return std::nullopt;
} catch (not_a_shared_library const&) {
  return std::nullopt;
} catch (elf_error const&) {
  return std::nullopt;
} catch (out_of_bytes const&) {
  return std::nullopt;
}

std::string mapped_build_id(void const* function)
try {
  mapped_search search{reinterpret_cast<std::uintptr_t>(function), {}};
  ::dl_iterate_phdr(look_for_build_id, &search);
  return search.build_id;
} catch (out_of_bytes const&) {
  return {};
}

}  // namespace fatlink::detail
