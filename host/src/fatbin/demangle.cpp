// SPDX-License-Identifier: Apache-2.0
#include "fatbin/demangle.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "util/limits.hpp"

namespace fatlink::detail {
namespace {

/// Whether demangling `name` is cheap: idents are untrusted, and each reference to an earlier part
/// ("S1_") may double the text.
bool is_short(std::string const& name)
{
  auto const references = std::count(name.begin(), name.end(), 'S');
  return name.size() <= limits::k_mangled_bytes &&
         static_cast<std::size_t>(references) <= limits::k_mangled_references;
}

}  // namespace

std::string demangle(std::string const& name)
{
  if (!is_short(name)) return {};
  std::unique_ptr<char, decltype(&std::free)> const text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr), &std::free);
  if (!text || std::strlen(text.get()) > limits::k_demangled_bytes) return {};
  return text.get();
}

}  // namespace fatlink::detail
