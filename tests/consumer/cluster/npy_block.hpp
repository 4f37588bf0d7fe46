// SPDX-License-Identifier: Apache-2.0
// A rank's block of a one-dimensional .npy file of float32.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

/// Where the elements of a .npy file are.
struct npy_layout {
  std::size_t offset = 0;  ///< of the first element, bytes
  std::size_t count = 0;
};

/// Elements first to first + count.
struct npy_block {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// @throws std::runtime_error the file is not a one-dimensional array of float32.
npy_layout read_layout(std::filesystem::path const& path);

/// The block of rank `rank` of `ranks`: their sizes differ by one element at most.
npy_block block_of(npy_layout const& layout, unsigned rank, unsigned ranks);

/// @throws std::runtime_error the file ends too early.
std::vector<float> read_block(std::filesystem::path const& path, npy_layout const& layout,
                              npy_block const& block);
