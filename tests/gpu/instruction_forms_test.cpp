// SPDX-License-Identifier: Apache-2.0
// The reference device computes each form of an instruction as a GPU does, bit by bit where PTX
// states the result.
#include <gtest/gtest.h>

#include "fatlink/device.hpp"
#include "fatlink/linker.hpp"
#include "instruction_forms.hpp"
#include "needs_nvjitlink.hpp"
#include "toolkit/link_in_process.hpp"

namespace fatlink {
namespace {

constexpr unsigned k_form_threads = 256;

std::vector<std::uint64_t> run_forms(char const* name, fatbin const& module, std::size_t forms)
{
  auto const device = open_device(name);
  linker linker;
  auto const loaded = link_and_load(*device, linker, {module}, link_mode::ptx);
  auto const operands = fixtures::form_operands(k_form_threads);
  std::vector<std::uint64_t> results(forms * k_form_threads);
  auto in = device->allocate<std::uint64_t>(operands.size());
  auto out = device->allocate<std::uint64_t>(results.size());
  in.write(operands);
  auto stream = device->create_stream();
  loaded.kernel<void(std::uint64_t const*, std::uint64_t*)>("k").launch(
      stream, {.grid = 1, .block = k_form_threads}, in.data(), out.data());
  stream.synchronize();
  out.read(results);
  return results;
}

TEST(InstructionForms, ComputeAsOnAGpu)
{
  std::string why;
  if (list_gpus(why).empty()) GTEST_SKIP() << why;
  if (why = fixtures::why_no_nvjitlink(); !why.empty()) GTEST_SKIP() << why;
  std::vector<fixtures::instruction_form> exact;
  for (auto const& form : fixtures::instruction_forms::all())
    if (form.is_exact) exact.push_back(form);
  auto const part = detail::link_input::from_ptx(fixtures::kernel_of_forms(exact, k_form_threads),
                                                 target(90), "forms.ptx");
  auto const module =
      fatbin::from_bytes(byte_buffer(part.bytes().begin(), part.bytes().end()), "forms.ptx");
  auto const on_gpu = run_forms("gpu", module, exact.size());
  auto const here = run_forms("cpu", module, exact.size());
  for (std::size_t form = 0; form < exact.size(); ++form)
    for (std::size_t thread = 0; thread < k_form_threads; ++thread) {
      auto const i = form * k_form_threads + thread;
      if (here[i] == on_gpu[i]) continue;
      ADD_FAILURE() << exact[form].text << " in thread " << thread << ": " << std::hex << here[i]
                    << " instead of " << on_gpu[i];
      break;
    }
  RecordProperty("forms", static_cast<int>(exact.size()));
}

}  // namespace
}  // namespace fatlink
