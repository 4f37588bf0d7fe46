// SPDX-License-Identifier: Apache-2.0
// Checks, links and images of the C interface.
#include <array>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "c_interface_fixture.hpp"
#include "fixtures.hpp"
#include "needs_nvjitlink.hpp"

using fixtures::c_error;
using fixtures::c_findings;
using fixtures::c_image;
using fixtures::fail;
using fixtures::fail_usage;
using fixtures::result_of;
using fixtures::succeed;

namespace {

class CLink : public fixtures::c_interface {
 protected:
  /// The error of a check with `stated`.
  [[nodiscard]] fatlink_error* check(fatlink_link_options const& stated)
  {
    auto const* const input = input_.get();
    return fatlink_check(&input, 1, &stated, result_of(findings_));
  }
  c_findings findings_;
};

class CLinkWithNvjitlink : public CLink {
 protected:
  void SetUp() override
  {
    if (auto const why = fixtures::why_no_nvjitlink(); !why.empty()) GTEST_SKIP() << why;
  }
  [[nodiscard]] c_error link_files(std::string const& library, std::string const& transform,
                                   c_image& image, fatlink_link_options const& stated)
  {
    auto const first = fixtures::read_c_input(fixtures::path(library));
    auto const second = fixtures::read_c_input(fixtures::path(transform));
    std::array<fatlink_input const*, 2> const inputs{first.get(), second.get()};
    return c_error(
        fatlink_link(linker_.get(), inputs.data(), inputs.size(), &stated, result_of(image)));
  }
};

fatlink_link_options lto_options()
{
  fatlink_link_options stated = {};
  stated.size = sizeof stated;
  stated.target = "sm_90";
  return stated;
}

}  // namespace

TEST_F(CLink, GivesAnImage)
{
  auto const image = link();
  fatlink_image_info info = {};
  info.size = sizeof info;
  succeed(fatlink_image_get_info(image.get(), &info));
  EXPECT_EQ(info.kind, FATLINK_IMAGE_PTX_SET);
  EXPECT_EQ(info.mode, FATLINK_MODE_PTX);
  EXPECT_EQ(info.cache, FATLINK_CACHE_OFF);
  EXPECT_STREQ(info.target, "sm_90");
  EXPECT_EQ(info.hook_count, 0U);
  EXPECT_EQ(info.inlined, 0);
  EXPECT_GT(info.size_bytes, 100U);
  std::size_t count = 1;
  EXPECT_EQ(fatlink_image_bytes(image.get(), &count), nullptr);
  EXPECT_EQ(count, 0U);
}

TEST_F(CLink, StatesAnUnknownKernel)
{
  auto stated = options();
  char const* const kernel = "no_such_kernel";
  stated.kernels = &kernel;
  stated.kernel_count = 1;
  auto const* const input = input_.get();
  c_image image;
  c_error const error(fatlink_link(linker_.get(), &input, 1, &stated, result_of(image)));
  EXPECT_EQ(fatlink_error_get_kind(error.get()), FATLINK_ERROR_REFUSED);
  EXPECT_STREQ(fatlink_error_code(error.get()), "unknown-kernel");
  EXPECT_GE(fatlink_findings_count(fatlink_error_findings(error.get())), 1U);
  EXPECT_EQ(image, nullptr);
}

TEST_F(CLink, IsCheckedWithoutLinking)
{
  auto stated = options();
  succeed(check(stated));
  auto const without = fatlink_findings_count(findings_.get());
  char const* const kernel = "no_such_kernel";
  stated.kernels = &kernel;
  stated.kernel_count = 1;
  succeed(check(stated));
  ASSERT_EQ(fatlink_findings_count(findings_.get()), without + 1);
  fatlink_finding finding = {};
  finding.size = sizeof finding;
  succeed(fatlink_findings_get(findings_.get(), 0, &finding));
  EXPECT_STREQ(finding.id, "unknown-kernel");
  EXPECT_STREQ(finding.symbol, "no_such_kernel");
}

TEST_F(CLink, RefusesNull)
{
  auto const stated = options();
  auto const* const input = input_.get();
  fatlink_image* image = nullptr;
  fatlink_input const* const none = nullptr;
  fail_usage(fatlink_link(nullptr, &input, 1, &stated, &image), "linker is NULL");
  fail_usage(fatlink_link(linker_.get(), nullptr, 1, &stated, &image), "inputs is NULL");
  fail_usage(fatlink_link(linker_.get(), &none, 1, &stated, &image), "inputs[0] is NULL");
  fail_usage(fatlink_link(linker_.get(), &input, 1, nullptr, &image), "options is NULL");
  fail_usage(fatlink_link(linker_.get(), &input, 1, &stated, nullptr), "image is NULL");
  fail_usage(fatlink_check(&input, 1, &stated, nullptr), "findings is NULL");
  fail_usage(fatlink_linker_create(nullptr, nullptr), "linker is NULL");
}

TEST_F(CLink, RefusesMalformedOptions)
{
  auto stated = options();
  stated.target = nullptr;
  fail_usage(check(stated), "options.target is NULL");
  stated.target = "sm_1";
  fail_usage(check(stated), "sm_1");
  stated = options();
  stated.mode = 7;
  fail_usage(check(stated), "mode is 7, which is not a constant of fatlink_link_mode");
  stated = options();
  stated.emit = -1;
  fail_usage(check(stated), "emit is -1, which is not a constant of fatlink_image_kind");
  stated.emit = FATLINK_IMAGE_RELOCATABLE + 1;
  fail_usage(check(stated), "emit is 6, which is not a constant of fatlink_image_kind");
  stated = options();
  stated.mode = FATLINK_MODE_PTX;
  stated.latest_nvvm = 1;
  fail_usage(check(stated), "latest_nvvm: this option has no effect in ptx mode");
  stated = options();
  stated.ftz = 2;
  fail_usage(check(stated), "options.ftz is 2, which is not a constant of fatlink_choice");
  stated = options();
  stated.max_registers = 1;
  fail_usage(check(stated), "max_registers");
  stated = options();
  stated.kernel_count = 1;
  fail_usage(check(stated), "options.kernels is NULL");
  char const* const kernel = nullptr;
  stated.kernels = &kernel;
  fail_usage(check(stated), "options.kernels[0] is NULL");
  stated = options();
  stated.size = 0;
  fail_usage(check(stated), "the size of options is 0");
}

TEST_F(CLink, WithoutInputsIsRefused)
{
  auto const stated = options();
  fatlink_image* image = nullptr;
  fail_usage(fatlink_link(linker_.get(), nullptr, 0, &stated, &image), "input");
}

TEST_F(CLink, OfAMissingNvjitlinkIsUnavailable)
{
  fatlink_linker_settings settings = {};
  settings.size = sizeof settings;
  settings.nvjitlink = "/nowhere/libnvJitLink.so.13";
  fixtures::c_linker linker;
  succeed(fatlink_linker_create(&settings, result_of(linker)));
  auto stated = options();
  stated.emit = FATLINK_IMAGE_CUBIN;
  auto const* const input = input_.get();
  fatlink_image* image = nullptr;
  fail(fatlink_link(linker.get(), &input, 1, &stated, &image), FATLINK_ERROR_UNAVAILABLE,
       "/nowhere/libnvJitLink.so.13");
}

TEST_F(CLink, OfNullIsEmpty)
{
  fatlink_image_info info = {};
  info.size = sizeof info;
  fail_usage(fatlink_image_get_info(nullptr, &info), "image is NULL");
  fail_usage(fatlink_image_get_info(link().get(), nullptr), "info is NULL");
  EXPECT_EQ(fatlink_image_bytes(nullptr, nullptr), nullptr);
  EXPECT_EQ(fatlink_image_warning(nullptr, 0), nullptr);
  fatlink_image_free(nullptr);
  fatlink_linker_free(nullptr);
}

TEST_F(CLinkWithNvjitlink, InlinesHooksAndKeepsTheCubin)
{
  c_image image;
  auto const error = link_files("library.fatbin", "transform.fatbin", image, lto_options());
  ASSERT_EQ(error, nullptr) << fatlink_error_message(error.get());
  fatlink_image_info info = {};
  info.size = sizeof info;
  succeed(fatlink_image_get_info(image.get(), &info));
  EXPECT_EQ(info.kind, FATLINK_IMAGE_CUBIN);
  EXPECT_EQ(info.inlined, 1);
  EXPECT_GT(info.link_ms, 0);
  ASSERT_GE(info.hook_count, 1U);
  fatlink_hook hook = {};
  hook.size = sizeof hook;
  succeed(fatlink_image_get_hook(image.get(), 0, &hook));
  EXPECT_STRNE(hook.name, "");
  EXPECT_EQ(hook.inlined, 1);
  EXPECT_EQ(hook.is_default, 0);
  fail_usage(fatlink_image_get_hook(image.get(), info.hook_count, &hook), "is too large");
  std::size_t count = 0;
  auto const* const bytes = static_cast<char const*>(fatlink_image_bytes(image.get(), &count));
  ASSERT_GT(count, 4U);
  EXPECT_EQ(std::string_view(bytes, 4), "\177ELF");
  for (std::size_t i = 0; i < info.warning_count; ++i)
    EXPECT_NE(fatlink_image_warning(image.get(), i), nullptr);
  EXPECT_EQ(fatlink_image_warning(image.get(), info.warning_count), nullptr);
}

TEST_F(CLinkWithNvjitlink, UsesTheCache)
{
  fixtures::folder const folder;
  auto const path = (folder.path() / "cache").string();
  fatlink_cache_settings where = {};
  where.size = sizeof where;
  where.folder = path.c_str();
  fixtures::c_cache cache;
  succeed(fatlink_cache_open(&where, result_of(cache)));
  fatlink_linker_settings settings = {};
  settings.size = sizeof settings;
  settings.cache = cache.get();
  succeed(fatlink_linker_create(&settings, result_of(linker_)));
  for (auto const outcome : {FATLINK_CACHE_MISS, FATLINK_CACHE_HIT}) {
    c_image image;
    EXPECT_EQ(link_files("library.fatbin", "transform.fatbin", image, lto_options()), nullptr);
    fatlink_image_info info = {};
    info.size = sizeof info;
    succeed(fatlink_image_get_info(image.get(), &info));
    EXPECT_EQ(info.cache, outcome);
  }
  EXPECT_EQ(fatlink_cache_folder(cache.get()), path);
  fatlink_cache_statistics statistics = {};
  statistics.size = sizeof statistics;
  succeed(fatlink_cache_get_statistics(cache.get(), &statistics));
  EXPECT_EQ(statistics.usable, 1);
  EXPECT_EQ(statistics.hits, 1U);
  EXPECT_GE(statistics.stored, 1U);
  succeed(fatlink_cache_prune(cache.get()));
  succeed(fatlink_cache_clear(cache.get()));
  succeed(fatlink_cache_get_statistics(cache.get(), &statistics));
  EXPECT_EQ(statistics.entries, 0U);
}

TEST_F(CLink, InAdvanceNeedsACacheOrALayer)
{
  auto const stated = options();
  auto const* const input = input_.get();
  c_image image;
  fail_usage(fatlink_cache_warm(linker_.get(), &input, 1, &stated, nullptr, 0, result_of(image)),
             "the linker has no cache: nothing to fill");
  fail_usage(fatlink_cache_warm(linker_.get(), &input, 1, &stated, nullptr, 1, result_of(image)),
             "one_copy is set, and there is no layer");
  fail_usage(fatlink_cache_warm(linker_.get(), &input, 1, nullptr, nullptr, 0, result_of(image)),
             "options is NULL");
  fail_usage(fatlink_cache_warm(linker_.get(), nullptr, 0, &stated, "layer", 0, result_of(image)),
             "no inputs");
  EXPECT_EQ(image, nullptr);
}

TEST_F(CLinkWithNvjitlink, InAdvanceFillsALayer)
{
  fixtures::folder const folder;
  auto const layer = (folder.path() / "layer").string();
  auto const library = fixtures::read_c_input(fixtures::path("library.fatbin"));
  auto const transform = fixtures::read_c_input(fixtures::path("transform.fatbin"));
  std::array<fatlink_input const*, 2> const inputs{library.get(), transform.get()};
  auto const stated = lto_options();
  for (int const one_copy : {1, 0}) {
    c_image image;
    succeed(fatlink_cache_warm(linker_.get(), inputs.data(), inputs.size(), &stated, layer.c_str(),
                               one_copy, result_of(image)));
    EXPECT_NE(image, nullptr);
    std::filesystem::directory_iterator const entries(layer);
    EXPECT_EQ(std::distance(begin(entries), end(entries)), 2 - one_copy);
  }
}
