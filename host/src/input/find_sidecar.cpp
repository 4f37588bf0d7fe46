// SPDX-License-Identifier: Apache-2.0
#include "input/find_sidecar.hpp"

#include <string>
#include <utility>

#include "fatlink/error.hpp"
#include "fatlink/source.hpp"
#include "util/bytes/sha256.hpp"
#include "util/files/read_file.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

namespace fs = std::filesystem;

/// Of a sidecar that is for every file of its stem.
constexpr std::size_t k_most_siblings = 16;

fs::path with_ending(fs::path path, char const* ending)
{
  return path += ending;
}

fs::path without_ending(fs::path path)
{
  return path.replace_extension();
}

bool is_there(fs::path const& path)
{
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

/// Whether `file` is an input of the stem of `path`.
bool is_sibling(fs::path const& file, fs::path const& path)
{
  std::error_code ignored;
  auto const name = file.filename();
  return name != path.filename() && name.stem() == path.stem() && name.extension() != ".json" &&
         fs::is_regular_file(file, ignored);
}

bool has_digest(fs::path const& path, std::string const& sha256_text)
try {
  auto const bytes = read_file(path, limits::k_file_bytes, "");
  return to_hexadecimal(sha256(bytes)) == sha256_text;
} catch (file_error const&) {
  return false;
}

/// Whether a file beside `path`, of the same stem, has the digest.
bool is_of_sibling(fs::path const& path, std::string const& sha256_text)
{
  auto const folder = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  std::size_t count = 0;
  for (auto const& file : list_folder(folder))
    if (is_sibling(file, path)) {
      if (++count > k_most_siblings) return false;
      if (has_digest(file, sha256_text)) return true;
    }
  return false;
}

/// x.cubin.json, if it is the sidecar of x.cubin.
sidecar_ptr read_own(fs::path const& path)
{
  auto own = read_own_sidecar(with_ending(path, ".json"));
  return is_there(with_ending(path, ".fatbin")) ? nullptr : own;
}

/// As read_own_sidecar, beside a source, whose author wrote the file: one that is not JSON is an
/// error.
sidecar_ptr read_sidecar_of_source(fs::path const& path)
{
  auto sidecar = read_sidecar(path);
  return sidecar && has_sidecar_keys(sidecar->json()) ? sidecar : nullptr;
}

/// x.cu.json, or x.json.
sidecar_ptr find_sidecar_of_source(fs::path const& path)
{
  if (!is_there(with_ending(path, ".fatbin")))
    if (auto own = read_sidecar_of_source(with_ending(path, ".json"))) return own;
  return read_sidecar_of_source(sidecar_path(path));
}

/// x.json, of x.cubin or another file of the stem.
checked_sidecar check_shared(fs::path const& path, bytes_view bytes)
{
  auto shared = read_own_sidecar(sidecar_path(path));
  auto const stated = stated_sha256(shared);
  if (!stated) return {.sidecar = std::move(shared)};
  auto const digest = sha256(bytes);
  auto const is_another = *stated != to_hexadecimal(digest);
  if (is_another &&
      (is_there(with_ending(without_ending(path), ".fatbin")) || is_of_sibling(path, *stated)))
    return {};
  require_digest(
      shared, path, digest,
      detail::format("{}; if {} belongs to another file, name it like that file with .json added",
                     k_install_together, sidecar_path(path).filename().string()));
  return {.sidecar = std::move(shared), .digest = digest};
}

}  // namespace

sidecar_ptr find_sidecar(fs::path const& path)
{
  if (path.extension() == ".fatbin" || path.extension() == ".json")
    return read_sidecar(sidecar_path(path));
  if (is_source_name(path)) return find_sidecar_of_source(path);
  if (auto own = read_own(path)) return own;
  auto shared = read_own_sidecar(sidecar_path(path));
  auto const stated = stated_sha256(shared);
  return stated && !has_digest(path, *stated) ? nullptr : shared;
}

checked_sidecar find_sidecar(fs::path const& path, bytes_view bytes)
{
  if (path.extension() == ".json") return {};
  if (path.extension() == ".fatbin")
    return check_digest(read_sidecar(sidecar_path(path)), path, bytes);
  if (auto own = read_own(path)) return check_digest(std::move(own), path, bytes);
  return check_shared(path, bytes);
}

}  // namespace fatlink::detail
