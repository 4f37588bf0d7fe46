// SPDX-License-Identifier: Apache-2.0
// fatlink bench: kernel time of a linked transform in both modes beside the same source compiled
// as one, a call through a function pointer, and a device-to-device copy; link latency; how
// fast the reference device is; what a start of the program costs, with and without its link
// cached. Rounds are interleaved and medians taken, so that ratios within one run hold.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/report.hpp"
#include "bench/start_up.hpp"
#include "error_report.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/nvjitlink.hpp"
#include "installed.hpp"
#include "options.hpp"
#include "run/run_kernel.hpp"
#include "verbs.hpp"
#include "verification/execute.hpp"

namespace fatlink::cli {
namespace {

struct arguments {
  std::vector<std::size_t> elements{std::size_t{1} << 28};
  std::string transform;
  unsigned repeat = 30;
  bool json = false;
};

using elementwise = kernel<void(float const*, float*, std::size_t)>;

/// Something timed: called once a round on a stream.
struct variant {
  std::string name;
  std::function<void(stream const&, device_buffer<float> const&, device_buffer<float> const&,
                     std::size_t)>
      go;
  std::vector<double> ms = {};
};

/// Four elements a thread, one float4, as the kernels here take them: their loops are grid-stride,
/// and the threads without work that elementwise_shape adds would be timed.
launch_shape vector_shape(std::size_t count)
{
  constexpr std::size_t k_vector = 4;
  return elementwise_shape((count + k_vector - 1) / k_vector);
}

variant launching(std::string name, elementwise const& code)
{
  return {std::move(name), [code](auto const& s, auto const& in, auto const& out, std::size_t n) {
            code.launch(s, vector_shape(n), in.data(), out.data(), n);
          }};
}

elementwise load(device const& on, std::vector<fatbin> const& inputs, link_mode mode,
                 char const* name)
{
  auto const image = linker().link(
      inputs,
      {.target = on.info().target, .mode = mode, .emit = image_kind::cubin, .kernel = name});
  if (inputs.size() > 1 && mode == link_mode::lto && !image.inlined())
    print_warnings({"the LTO link did not inline the transform"});
  return on.load(image).kernel<void(float const*, float*, std::size_t)>(name);
}

std::vector<variant> variants(device const& on, std::vector<fatbin> const& pair, bool is_default)
{
  std::vector<variant> all;
  all.push_back({"device-to-device copy", [&on](auto const& s, auto const& in, auto const& out,
                                                std::size_t n) { on.copy(out, in, n, s); }});
  all.push_back(launching("PTX link", load(on, pair, link_mode::ptx, k_default_kernel)));
  all.push_back(launching("LTO link", load(on, pair, link_mode::lto, k_default_kernel)));
  if (!is_default) return all;  // the other two exist for the default transform
  std::vector<fatbin> const single{fatbin::read(bench_fatbin())};
  all.push_back(
      launching("single source", load(on, single, link_mode::ptx, "apply_transform_single")));
  all.push_back(
      launching("function pointer", load(on, single, link_mode::ptx, "apply_transform_pointer")));
  return all;
}

/// One call is timed as a batch when it is short, so that an event's own cost stays small.
void time_all(device const& on, std::vector<variant>& all, std::size_t count, unsigned rounds)
{
  auto const in = on.allocate<float>(count);
  auto const out = on.allocate<float>(count);
  std::vector<float> chunk(std::min<std::size_t>(count, std::size_t{4} << 20));
  auto const source = generated_elements(count, 0);
  for (std::size_t first = 0; first < count; first += chunk.size()) {
    auto const part = std::span(chunk).first(std::min(chunk.size(), count - first));
    source->fill(first, part);
    device_buffer<float>(in).write(part, first);
  }
  auto const batch = std::clamp<std::size_t>((std::size_t{1} << 24) / count, 1, 20);
  auto const s = on.create_stream();
  auto start = on.create_event();
  auto stop = on.create_event();
  for (unsigned round = 0; round <= rounds; ++round)
    for (auto& one : all) {
      start.record(s);
      for (std::size_t i = 0; i < batch; ++i) one.go(s, in, out, count);
      stop.record(s);
      auto const ms = stop.ms_since(start) / static_cast<double>(batch);
      if (round > 0) one.ms.push_back(ms);  // the first round warms up
    }
}

nlohmann::json rows_of(std::vector<variant>& all, std::size_t count)
{
  auto const find = [&](std::string const& name) {
    auto const at =
        std::find_if(all.begin(), all.end(), [&](variant const& one) { return one.name == name; });
    return at == all.end() ? 0 : median(at->ms);
  };
  auto const copy = find("device-to-device copy");
  auto const single = find("single source");
  auto rows = nlohmann::json::array();
  for (auto& one : all) {
    auto const ms = median(one.ms);
    nlohmann::json row{{"variant", one.name},
                       {"elements", count},
                       {"us", ms * 1e3},
                       {"gb_per_s", static_cast<double>(count) * 8 / ms / 1e6},
                       {"rate_over_copy", copy / ms}};
    row["time_over_single_source"] = single > 0 ? nlohmann::json(ms / single) : nlohmann::json();
    rows.push_back(row);
    one.ms.clear();
  }
  return rows;
}

using wall_clock = std::chrono::steady_clock;

template <typename Work>
double wall_ms(Work const& work)
{
  auto const start = wall_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(wall_clock::now() - start).count();
}

/// Wall time of linker::link, in this process and in the helper, alternately. The overhead is of
/// what surrounds nvJitLink: with a driver, nvJitLink itself is faster where it may use the
/// driver's cache, which the helper cannot open.
nlohmann::json link_latency(std::vector<fatbin> const& pair, target wanted, unsigned rounds)
{
  auto rows = nlohmann::json::array();
  linker here({.isolation = isolation::in_process});
  linker apart;
  for (auto const mode : {link_mode::ptx, link_mode::lto}) {
    link_options const options{.target = wanted, .mode = mode, .emit = image_kind::cubin};
    std::vector<double> in_process;
    std::vector<double> in_helper;
    std::vector<double> overhead;
    double first = 0;
    for (unsigned i = 0; i <= rounds; ++i) {
      double linking_here = 0;
      double linking_apart = 0;
      auto const here_ms = wall_ms([&] { linking_here = here.link(pair, options).link_ms; });
      auto const apart_ms = wall_ms([&] { linking_apart = apart.link(pair, options).link_ms; });
      if (i == 0) {
        first = here_ms;
        continue;
      }
      in_process.push_back(here_ms);
      in_helper.push_back(apart_ms);
      overhead.push_back((apart_ms - linking_apart) - (here_ms - linking_here));
    }
    rows.push_back({{"mode", to_string(mode)},
                    {"first_ms", first},
                    {"median_ms", median(in_process)},
                    {"helper_median_ms", median(in_helper)},
                    {"helper_overhead_ms", median(overhead)}});
  }
  return rows;
}

/// Milliseconds that preflight takes of the first link of a pair: a fatbin remembers what was read.
double preflight_ms(std::vector<fatbin> const& pair, target wanted, unsigned rounds)
{
  std::vector<double> ms;
  for (unsigned i = 0; i < rounds; ++i) {
    std::vector<fatbin> fresh;
    for (auto const& one : pair)
      fresh.push_back(fatbin::from_bytes({one.bytes().begin(), one.bytes().end()}, one.name()));
    ms.push_back(wall_ms([&] {
      (void)preflight(fresh, {.target = wanted,
                              .mode = link_mode::lto,
                              .kernel = k_default_kernel,
                              .linker = toolkit_version{13, 0}});
    }));
  }
  return median(ms);
}

/// PTX instructions a second and core on the reference device, of the LTO link.
nlohmann::json reference_device_rate(std::vector<fatbin> const& pair, unsigned rounds)
{
  constexpr std::size_t k_count = std::size_t{1} << 20;
  auto const on = open_device("cpu");
  auto const image = linker().link(pair, on->link_options(link_mode::lto));
  auto const code =
      on->load(image).kernel<void(float const*, float*, std::size_t)>(k_default_kernel);
  std::vector<float> values(k_count);
  generated_elements(k_count, 0)->fill(0, values);
  auto in = on->allocate<float>(k_count);
  auto out = on->allocate<float>(k_count);
  in.write(values);
  auto const s = on->create_stream();
  std::vector<double> rates;
  for (unsigned i = 0; i <= rounds; ++i) {
    auto start = on->create_event();
    auto stop = on->create_event();
    auto const before = on->instructions();
    start.record(s);
    code.launch(s, vector_shape(k_count), in.data(), out.data(), k_count);
    stop.record(s);
    auto const executed = static_cast<double>(on->instructions() - before);
    if (i > 0) rates.push_back(executed / stop.ms_since(start) * 1e3);
  }
  auto const cores = on->info().multiprocessors;
  return {{"elements", k_count},
          {"cores", cores},
          {"instructions_per_s_and_core", median(rates) / cores},
          {"elements_per_s_and_core", median(rates) / cores * static_cast<double>(k_count) *
                                          (rounds + 1) / static_cast<double>(on->instructions())}};
}

/// "13.0" of 13000, as the driver states its CUDA version.
nlohmann::json version_text(int version)
{
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string nvjitlink_version()
{
  auto const library = nvjitlink::open();
  return fmt::format("{}.{}", library->major(), library->minor());
}

int bench(arguments const& given)
{
  auto const transform = fatbin_or_default(given.transform, k_shipped_transform);
  std::vector<fatbin> const pair{fatbin::read(fatbin_or_default({}, k_shipped_library)),
                                 fatbin::read(transform)};
  (void)select_kernel(pair, k_default_kernel);
  std::string no_driver_reason;
  auto const driver = driver_version(no_driver_reason);
  nlohmann::json found{{"version", FATLINK_VERSION},
                       {"device", nullptr},
                       {"driver", driver == 0 ? nlohmann::json() : version_text(driver)},
                       {"nvjitlink", nvjitlink_version()},
                       {"transform", transform.stem().string()},
                       {"rounds", given.repeat},
                       {"kernels", nlohmann::json::array()}};
  target wanted("sm_90");
  std::string why;
  if (list_gpus(why).empty()) {
    print_warnings({fmt::format("kernel times are skipped: {}", why)});
  } else {
    auto const on = open_device("gpu");
    wanted = on->info().target;
    found["device"] = {{"name", on->info().name}, {"target", wanted.name()}};
    auto all = variants(*on, pair, transform.stem() == k_default_transform);
    for (auto const count : given.elements) {
      time_all(*on, all, count, given.repeat);
      for (auto& row : rows_of(all, count)) found["kernels"].push_back(row);
    }
  }
  found["links"] = link_latency(pair, wanted, given.repeat);
  found["starts"] = bench_starts(fatbin_or_default({}, k_shipped_library), transform, wanted.name(),
                                 given.repeat);
  found["preflight_ms"] = preflight_ms(pair, wanted, given.repeat);
  found["reference_device"] = reference_device_rate(pair, given.repeat);
  if (given.json)
    print_json("fatlink.bench/1", found);
  else
    print_bench(found);
  return k_done;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_status)
{
  auto given = std::make_shared<arguments>();
  auto* verb = app.add_subcommand("bench", "Time kernels and links against the alternatives.");
  add_counts(*verb, "--elements", given->elements, {1, std::uint64_t{1} << 36},
             "floats a launch, as 65536, 1e6 or 256Mi; several, with commas (default: 256Mi)");
  verb->add_option("--transform", given->transform,
                   "fatbin (default: relu_poly, the only one with single-source rows)");
  add_count(*verb, "--repeat", given->repeat, {1, 10000}, "rounds");
  verb->add_flag("--json", given->json, "one JSON object on standard output");
  verb->footer(
      "Example: fatlink bench --elements 1Mi,256Mi. Without a GPU: links for sm_90, and "
      "the reference device.");
  verb->callback([given, &exit_status] { exit_status = bench(*given); });
}

}  // namespace fatlink::cli
