// SPDX-License-Identifier: Apache-2.0
// Types of LTO-IR that no PTX describes, checked by links of their own.
#include "linker/check_links.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include "expect_error.hpp"
#include "fatbin/write_fatbin.hpp"
#include "fatlink/linker.hpp"
#include "fixtures.hpp"
#include "linker/image_functions.hpp"
#include "needs_nvjitlink.hpp"
#include "shipped_links.hpp"
#include "toolkit/nvrtc.hpp"

using namespace fatlink;
using fixtures::lto;
using testing::Contains;
using testing::HasSubstr;

namespace {

linked_image link_lto(std::vector<std::string> const& names,
                      isolation where = isolation::in_process)
{
  std::vector<fatbin> inputs;
  for (auto const& name : names) inputs.push_back(fixtures::fatbin(name));
  return linker({.isolation = where}).link(inputs, lto());
}

/// LTO-IR that NVRTC makes of `source`, in a fatbin; NVRTC makes no PTX beside it.
class nvrtc {
 public:
  nvrtc()
  {
    auto const file = detail::locate_nvrtc();
    if (!file) return;
    // NVRTC requests its builtins by name: the loader then uses those that are open.
    if (auto const builtins = detail::builtins_of(file->path); !builtins.empty())
      (void)::dlopen(builtins.c_str(), RTLD_NOW);
    library_ = ::dlopen(file->path.c_str(), RTLD_NOW);
  }
  [[nodiscard]] bool is_there() const { return library_ != nullptr; }

  [[nodiscard]] fatbin compile(std::string const& name, std::string const& source) const
  {
    void* program = nullptr;
    auto const create =
        function<int(void**, char const*, char const*, int, void*, void*)>("nvrtcCreateProgram");
    EXPECT_EQ(create(&program, source.c_str(), "t.cu", 0, nullptr, nullptr), 0);
    char const* options[] = {"-arch=compute_75", "-dlto"};
    EXPECT_EQ(function<int(void*, int, char const**)>("nvrtcCompileProgram")(program, 2, options),
              0);
    std::size_t size = 0;
    EXPECT_EQ(function<int(void*, std::size_t*)>("nvrtcGetLTOIRSize")(program, &size), 0);
    byte_buffer ltoir(size);
    EXPECT_EQ(function<int(void*, std::byte*)>("nvrtcGetLTOIR")(program, ltoir.data()), 0);
    EXPECT_EQ(function<int(void**)>("nvrtcDestroyProgram")(&program), 0);
    return pack(name, ltoir);
  }

 private:
  template <typename Function>
  [[nodiscard]] Function* function(char const* name) const
  {
    return reinterpret_cast<Function*>(::dlsym(library_, name));
  }

  static fatbin pack(std::string const& name, byte_buffer const& ltoir)
  {
    fatbin_entry entry;
    entry.kind = entry_kind::ltoir;
    entry.target = target("sm_75");
    entry.version_major = 1;
    entry.version_minor = 65;
    entry.flags = 0x11;  // 64-bit, Linux
    entry.payload = ltoir;
    entry.uncompressed_size = ltoir.size();
    entry.options = "-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1";
    return fatbin::from_bytes(detail::write_fatbin(entry), name);
  }

  void* library_ = nullptr;
};

class CheckOpaqueTypes : public fixtures::needs_nvjitlink {};

}  // namespace

TEST(WitnessPtx, DeclaresDefinesAndCallsAsStated)
{
  ptx_function const hook{"f", {{"b32", 0, 0}}, {{"b32", 0, 0}, {"b8", 4, 8}}};
  ptx_function const helper{"g", {}, {}};
  auto const text = detail::write_witness({{hook, "a", false}, {helper, "b", true}});
  EXPECT_THAT(text, HasSubstr(".extern .func (.param .b32 r0) f (.param .b32 p0, "
                              ".param .align 4 .b8 p1[8])\n;"));
  EXPECT_THAT(text, HasSubstr(".weak .func g ()\n{ ret; }"));
  auto const interface = read_ptx_interface(text);
  ASSERT_EQ(interface.hooks.size(), 1U);
  EXPECT_EQ(to_string(interface.hooks[0]), to_string(hook));
}

TEST_F(CheckOpaqueTypes, RefusesATransformOfAnotherTypeThanTheLibraryDeclares)
{
  for (auto const where : {isolation::in_process, isolation::helper})
    expect_error<refused_error>(
        [&] {
          (void)link_lto({"library.fatbin", "two_types_ltoir.fatbin"}, where);
        },
        "library.fatbin declares (b32) user_transform(b32), and the LTO-IR of "
        "two_types_ltoir.fatbin has user_transform with another type [signature-mismatch]");
}

TEST_F(CheckOpaqueTypes, LinksAndInlinesATransformOfTheRightType)
{
  auto const image = link_lto({"library.fatbin", "transform_ltoir.fatbin"});
  EXPECT_TRUE(image.inlined());
  EXPECT_EQ(image.bytes, link_lto({"library.fatbin", "transform.fatbin"}).bytes);
  EXPECT_THAT(image.warnings, Contains(HasSubstr("[unreadable-types]")));
}

TEST_F(CheckOpaqueTypes, LinksAndInlinesIntoALibraryOfTheRightType)
{
  auto const image = link_lto({"library_ltoir.fatbin", "transform.fatbin"});
  EXPECT_TRUE(image.inlined());
  EXPECT_EQ(detail::functions_in_cubin(image.bytes), std::vector<std::string>{"apply_transform"});
}

TEST_F(CheckOpaqueTypes, RefusesAHookThatTheLtoirDoesNotDefine)
{
  expect_error<refused_error>(
      [] {
        (void)link_lto({"library.fatbin", "library_ltoir.fatbin"});
      },
      "library.fatbin declares (b32) user_transform(b32), and no input shows a definition of it");
}

TEST_F(CheckOpaqueTypes, ChecksLtoirOfNvrtc)
{
  nvrtc const compiler;
  if (!compiler.is_there()) GTEST_SKIP() << "no NVRTC on this machine";
  auto const library = fixtures::fatbin("library.fatbin");
  auto const right = compiler.compile(
      "right", "extern \"C\" __device__ float user_transform(float x) { return 3 * x; }");
  EXPECT_TRUE(linker().link({library, right}, lto()).inlined());
  auto const wrong = compiler.compile(
      "wrong", "extern \"C\" __device__ double user_transform(double x) { return 3 * x; }");
  expect_error<refused_error>(
      [&] {
        (void)linker().link({library, wrong}, lto());
      },
      "has user_transform with another type [signature-mismatch]");
}
