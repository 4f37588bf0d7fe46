// SPDX-License-Identifier: Apache-2.0
#include "input/stated_digest.hpp"

#include <string>
#include <utility>

#include "fatbin/sidecar.hpp"
#include "fatlink/error.hpp"
#include "fatlink/source.hpp"
#include "util/bytes/sha256.hpp"
#include "util/files/path_lookup.hpp"
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

/// What x.cubin.json states of x.cubin.
std::optional<digest256> check_own(fs::path const& path, fs::path const& sidecar, bytes_view bytes)
{
  auto const stated = sha256_in(sidecar);
  if (!stated) return std::nullopt;
  auto const digest = sha256(bytes);
  if (*stated == to_hexadecimal(digest)) return digest;
  refuse_digest(path, digest, sidecar, *stated,
                "install the file and its .json together, or build it again");
}

/// What x.json states, of x.cubin or another file of the stem.
std::optional<digest256> check_shared(fs::path const& path, bytes_view bytes)
{
  auto const sidecar = sidecar_of(path);
  if (!is_sidecar(sidecar)) return std::nullopt;
  auto const stated = sha256_in(sidecar);
  if (!stated) return std::nullopt;
  auto const digest = sha256(bytes);
  if (*stated == to_hexadecimal(digest)) return digest;
  if (is_of_sibling(path, *stated)) return std::nullopt;
  auto const name = sidecar.filename().string();
  refuse_digest(path, digest, sidecar, *stated,
                detail::format("install the file and its .json together, or build it again; if {} "
                               "is of another file, name it as that file with .json added",
                               name));
}

/// As is_sidecar, beside a source, whose author wrote the file: one that is not JSON is an error.
bool is_sidecar_of_source(fs::path const& sidecar)
{
  return is_there(sidecar) && has_sidecar_keys(*read_json(sidecar));
}

/// x.cu.json, or x.json.
std::optional<fs::path> find_sidecar_of_source(fs::path const& path)
{
  auto own = with_ending(path, ".json");
  if (!is_there(with_ending(path, ".fatbin")) && is_sidecar_of_source(own)) return own;
  auto shared = sidecar_of(path);
  if (is_sidecar_of_source(shared)) return shared;
  return std::nullopt;
}

/// Whether x.cubin.json is the sidecar of x.cubin.
bool has_own(fs::path const& path)
{
  return is_sidecar(with_ending(path, ".json")) && !is_there(with_ending(path, ".fatbin"));
}

}  // namespace

std::optional<fs::path> find_sidecar(fs::path const& path)
{
  auto shared = sidecar_of(path);
  if (path.extension() == ".fatbin" || path == shared)
    return is_there(shared) ? std::optional(std::move(shared)) : std::nullopt;
  if (is_source_name(path)) return find_sidecar_of_source(path);
  if (has_own(path)) return with_ending(path, ".json");
  if (!is_sidecar(shared)) return std::nullopt;
  auto const stated = sha256_in(shared);
  if (stated && !has_digest(path, *stated)) return std::nullopt;
  return shared;
}

std::optional<digest256> stated_digest(fs::path const& path, bytes_view bytes)
{
  if (path.extension() == ".json") return std::nullopt;
  if (path.extension() == ".fatbin") return check_stated_digest(path, bytes);
  if (has_own(path)) return check_own(path, with_ending(path, ".json"), bytes);
  if (is_there(with_ending(without_ending(path), ".fatbin"))) return std::nullopt;
  return check_shared(path, bytes);
}

}  // namespace fatlink::detail
