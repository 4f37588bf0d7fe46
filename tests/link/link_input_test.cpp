// SPDX-License-Identifier: Apache-2.0
// What nvJitLink receives of each input, and which of its answers fail a link.
#include <gmock/gmock.h>

#include "captured_stderr.hpp"
#include "environment.hpp"
#include "expect_error.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/preflight.hpp"
#include "fixtures.hpp"
#include "linker/link_options.hpp"
#include "needs_nvjitlink.hpp"
#include "toolkit/link_in_process.hpp"
#include "toolkit/nvjitlink.hpp"

using namespace fatlink;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

link_options cubin_options(link_mode mode)
{
  return {.target = "sm_90", .mode = mode, .emit = image_kind::cubin};
}

/// The cubin that nvJitLink makes of the files as they are, in one call after the other.
byte_buffer link_whole(std::vector<fatbin> const& inputs, link_mode mode)
{
  auto const library = nvjitlink::open();
  auto const& api = library->functions();
  auto const texts = detail::nvjitlink_options(inputs, cubin_options(mode));
  std::vector<char const*> pointers;
  for (auto const& text : texts) pointers.push_back(text.c_str());
  nvjitlink::api::handle handle = nullptr;
  EXPECT_EQ(api.create(&handle, static_cast<unsigned>(pointers.size()), pointers.data()), 0);
  for (auto const& input : inputs)
    EXPECT_EQ(
        api.add_data(handle, 4, input.bytes().data(), input.bytes().size(), input.name().c_str()),
        0);
  EXPECT_EQ(api.complete(handle), 0);
  std::size_t size = 0;
  EXPECT_EQ(api.cubin_size(handle, &size), 0);
  byte_buffer cubin(size);
  EXPECT_EQ(api.cubin(handle, cubin.data()), 0);
  api.destroy(&handle);
  return cubin;
}

/// `name` with its PTX alone.
fatbin ptx_of(std::string const& name)
{
  auto const file = fixtures::fatbin(name);
  auto const input =
      detail::link_input::write(file, *linked_entry(file, {"sm_90", link_mode::ptx}));
  return fatbin::from_bytes({input.bytes().begin(), input.bytes().end()}, name);
}

/// A link by the hostile nvJitLink, which succeeds and reports what `mode` says.
detail::link_product link_that_reports(std::string const& mode)
{
  fixtures::variable const what("FATLINK_HOSTILE", mode);
  fixtures::captured_stderr output;
  auto const file = fixtures::fatbin("transform.fatbin");
  return detail::link_in_process(*nvjitlink::open(places::hostile_nvjitlink()),
                                 {detail::link_input::write(file, file.entries()[0])},
                                 {"-arch=sm_90"}, image_kind::cubin, [&] { return output.read(); });
}

class LinkInput : public fixtures::needs_nvjitlink {};
class LinkOutcome : public fixtures::needs_nvjitlink {};

}  // namespace

TEST_F(LinkInput, OfShippedFatbinsLinksToTheBytesOfWholeFiles)
{
  for (auto const* name : {"relu_poly", "gelu", "damped_sine", "softsign", "identity"})
    for (auto const mode : {link_mode::ptx, link_mode::lto}) {
      std::vector<fatbin> const inputs{fatbin::read(places::data("apply_transform.fatbin")),
                                       fatbin::read(places::data(std::string(name) + ".fatbin"))};
      EXPECT_EQ(linker().link(inputs, cubin_options(mode)).bytes, link_whole(inputs, mode))
          << name << " " << to_string(mode);
    }
}

TEST_F(LinkInput, OfFatbinsWithSassIsThePtxThatWasJudged)
{
  std::vector<fatbin> const files{fixtures::fatbin("library_sass.fatbin"),
                                  fixtures::fatbin("two_types_sass.fatbin")};
  std::vector<fatbin> const ptx{ptx_of("library_sass.fatbin"), ptx_of("two_types_sass.fatbin")};
  auto const expected = link_whole(ptx, link_mode::ptx);
  for (auto const where : {isolation::in_process, isolation::helper}) {
    auto const image = linker({.isolation = where}).link(files, cubin_options(link_mode::ptx));
    EXPECT_EQ(image.bytes, expected);
    EXPECT_THAT(image.warnings, testing::Not(testing::Contains(HasSubstr("Prototype"))));
  }
}

TEST(LinkAnswer, WithAnErrorLineInAnyStreamFailsTheLinkThatSucceeded)
{
  for (auto const* stream : {"print ", "error-log ", "info-log "})
    for (auto const* line : {"error   : Prototype doesn't match", "  @E@error   : x", "fatal   : x",
                             "@E@fatal: x", "ERROR 9: finish"})
      expect_error<link_error>([&] { (void)link_that_reports(stream + std::string(line)); }, line);
}

TEST(LinkAnswer, WithProgressReportsIsNoWarning)
{
  for (auto const* line : {"SUCCESS: NVVM70 LTOIR Container created (1872 bytes)", "INFO: x"})
    EXPECT_THAT(link_that_reports("info-log " + std::string(line)).warnings, IsEmpty()) << line;
  EXPECT_THAT(link_that_reports("info-log warning: x").warnings,
              testing::ElementsAre("nvJitLink: warning: x"));
}

TEST_F(LinkOutcome, OfLtoirThatMeetsPtxOfAnotherTypeIsAnError)
{
  auto const library = fixtures::fatbin("library.fatbin");
  auto const other = fixtures::fatbin("two_types_ltoir.fatbin");
  expect_error<link_error>(
      [&] {
        detail::link_in_process(
            *nvjitlink::open(),
            {detail::link_input::write(library, *linked_entry(library, {"sm_90", link_mode::ptx})),
             detail::link_input::write(other, *linked_entry(other, {"sm_90", link_mode::lto}))},
            {"-arch=sm_90", "-lto"}, image_kind::cubin);
      },
      "Prototype doesn't match for 'user_transform'");
}
