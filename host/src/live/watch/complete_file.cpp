// SPDX-License-Identifier: Apache-2.0
#include "live/watch/complete_file.hpp"

#include <utility>

#include "fatbin/sidecar.hpp"
#include "input/stated_digest.hpp"
#include "util/bytes/sha256.hpp"
#include "util/files/read_file.hpp"
#include "util/limits.hpp"

namespace fatlink::detail {

complete_file read_complete(std::filesystem::path const& path)
{
  auto code = input::read(path);
  auto const sidecar = find_sidecar(path);
  if (!sidecar) return {std::move(code)};
  auto const bytes = read_file(*sidecar, limits::k_json_bytes, k_json_example);
  auto const stated = sha256_in(*parse_json(bytes, sidecar->string()), sidecar->string());
  if (stated && *stated != to_hexadecimal(code.digest()))
    refuse_digest(path, code.digest(), *sidecar, *stated,
                  "install the file and its .json together, or build it again");
  auto const* const text = reinterpret_cast<char const*>(bytes.data());
  return {std::move(code), std::string(text, bytes.size())};
}

}  // namespace fatlink::detail
