// SPDX-License-Identifier: Apache-2.0
#include "npy_block.hpp"

#include <algorithm>
#include <fstream>
#include <regex>
#include <stdexcept>
#include <string>

namespace {

/// Of version 1.0: magic and version in 8 bytes, the size of the header in 2.
constexpr std::size_t k_preamble = 10;

[[noreturn]] void refuse(std::filesystem::path const& path, char const* cause)
{
  throw std::runtime_error(path.string() + ": " + cause);
}

}  // namespace

npy_layout read_layout(std::filesystem::path const& path)
{
  std::ifstream file(path, std::ios::binary);
  std::string preamble(k_preamble, '\0');
  if (!file.read(preamble.data(), k_preamble) ||
      preamble.compare(0, 8, "\x93NUMPY\x01\x00", 8) != 0)
    refuse(path, "no .npy file of version 1.0");
  auto const byte = [&](std::size_t index) { return static_cast<unsigned char>(preamble[index]); };
  std::string header(byte(8) + 256U * byte(9), '\0');
  file.read(header.data(), static_cast<std::streamsize>(header.size()));
  std::smatch shape;
  if (!file || header.find("'<f4'") == std::string::npos ||
      !std::regex_search(header, shape, std::regex(R"('shape': \((\d+),\))")))
    refuse(path, "not a one-dimensional array of float32");
  return {.offset = k_preamble + header.size(), .count = std::stoull(shape[1])};
}

npy_block block_of(npy_layout const& layout, unsigned rank, unsigned ranks)
{
  auto const share = layout.count / ranks;
  auto const longer = layout.count % ranks;  // the first blocks have an element more
  return {.first = rank * share + std::min<std::size_t>(rank, longer),
          .count = share + (rank < longer ? 1 : 0)};
}

std::vector<float> read_block(std::filesystem::path const& path, npy_layout const& layout,
                              npy_block const& block)
{
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(layout.offset + block.first * sizeof(float)));
  std::vector<float> values(block.count);
  if (!file.read(reinterpret_cast<char*>(values.data()),
                 static_cast<std::streamsize>(values.size() * sizeof(float))))
    refuse(path, "the file is truncated");
  return values;
}
