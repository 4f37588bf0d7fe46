// SPDX-License-Identifier: Apache-2.0
// The limits of the reader of cubins.
#include <elf.h>
#include <gmock/gmock.h>

#include <string>

#include "cubin/cubin.hpp"
#include "cubin_bytes.hpp"
#include "util/limits.hpp"

using namespace fatlink;
using namespace fatlink::detail;
using namespace cubin_bytes;

namespace {

void expect_cubin_above_limit(byte_buffer const& bytes, std::string const& says)
{
  try {
    read_cubin(bytes, "x.cubin");
    ADD_FAILURE() << "no error; expected: " << says;
  } catch (format_error const& failed) {
    EXPECT_THAT(failed.what(), testing::StartsWith("x.cubin: the cubin " + says));
    EXPECT_TRUE(failed.details().code == error_code::above_limit);
    EXPECT_EQ(failed.details().hint, "split it into several, each with fewer sources");
  }
}

/// types() with `count` more symbols like `model`, each called `name`.
byte_buffer with_symbols(std::string const& model, std::string const& name, std::size_t count)
{
  auto bytes = types();
  auto names = content_of(bytes, ".strtab");
  auto symbols = content_of(bytes, ".symtab");
  auto const begin = bytes.begin() + static_cast<std::ptrdiff_t>(symbol(bytes, model, 0));
  byte_buffer copy(begin, begin + sizeof(Elf64_Sym));
  put(copy, 0, static_cast<std::uint32_t>(names.size()));
  for (auto const letter : name) names.push_back(static_cast<std::byte>(letter));
  names.push_back(std::byte{0});
  for (std::size_t i = 0; i < count; ++i) symbols.insert(symbols.end(), copy.begin(), copy.end());
  return with_content(with_content(bytes, ".strtab", names), ".symtab", symbols);
}

}  // namespace

TEST(CubinReader, RefusesANameAboveTheLimit)
{
  auto const bytes = with_symbols("hook_of_any", std::string(limits::k_name_bytes + 1, 'n'), 1);
  expect_cubin_above_limit(bytes, "has a name of more than 16384 bytes, the limit");
}

TEST(CubinReader, RefusesMoreDeclarationsThanTheLimit)
{
  auto const bytes = with_symbols("hook_of_any", "hook_of_any", limits::k_declarations);
  expect_cubin_above_limit(
      bytes, "declares more than 1048576 functions, parameters and variables, the limit");
}

TEST(CubinReader, RefusesNamesThatAreAboveTheLimitTogether)
{
  auto const bytes = with_symbols("hook_of_any", std::string(limits::k_name_bytes, 'n'),
                                  limits::k_cubin_name_bytes / limits::k_name_bytes);
  expect_cubin_above_limit(bytes, "has names of more than 67108864 bytes together, the limit");
}

TEST(CubinReader, RefusesMoreParametersOfAFunctionThanTheLimit)
{
  auto bytes = types();
  auto names = content_of(bytes, ".strtab");
  auto const prototype = static_cast<std::uint32_t>(names.size());
  for (auto const letter : "#v" + std::string(limits::k_parameters + 1, 'i') + '\0')
    names.push_back(static_cast<std::byte>(letter));
  bytes = with_content(bytes, ".strtab", names);
  put(bytes, offset_of(bytes, ".nv.prototype") + 4, prototype);
  expect_cubin_above_limit(bytes,
                           "has a function of more than 4096 parameters, the limit, at byte");
}

TEST(CubinReader, RefusesMoreParametersOfAKernelThanTheLimit)
{
  byte_buffer attributes((limits::k_parameters + 1) * 16);
  for (std::size_t i = 0; i <= limits::k_parameters; ++i) {
    put(attributes, i * 16, std::uint32_t{0x000C1704});
    put(attributes, i * 16 + 8, static_cast<std::uint16_t>(i));
  }
  expect_cubin_above_limit(with_content(types(), ".nv.info.kernel", attributes),
                           "has a kernel of more than 4096 parameters, the limit");
}
