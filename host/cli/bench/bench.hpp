// SPDX-License-Identifier: Apache-2.0
// What `fatlink bench` measures: the job, read and checked without a device, and the measurements
// of it. Each returns rows or objects as docs/schemas/bench.json describes them. Times are medians
// over the rounds, in milliseconds. Threads: one at a time.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fatlink/device.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/input.hpp"
#include "link_flags.hpp"
#include "run/bind_plan.hpp"
#include "run/execute_plan.hpp"

namespace fatlink::cli {

struct bench_job {
  std::vector<std::filesystem::path> files;  ///< the library, then the transforms
  std::vector<input> inputs;                 ///< of `files`
  std::vector<link_mode> modes;              ///< to measure, in order
  launch_plan plan;                          ///< the library's, or the implied one
  plan_references references;                ///< what the inputs state
  bool is_implied = false;                   ///< whether the plan is the implied one
  std::vector<std::string> values;           ///< of --set: "width=100"
  link_flags flags;                          ///< without the cache
  unsigned rounds = 30;                      ///< times are medians over them

  /// The fatbin of the library and the transforms compiled as one source; nothing unless `files`
  /// are fatlink's own.
  [[nodiscard]] std::optional<std::filesystem::path> single_source() const;

  /// The first kernel of the plan.
  [[nodiscard]] std::string const& kernel() const { return plan.launches.front().kernel; }

  /// Whether --elements is one of the plan's sizes: neither --set nor a default states it.
  [[nodiscard]] bool has_free_size() const;

  /// The modules that a link for `target` in the last mode takes.
  [[nodiscard]] std::vector<fatbin> modules(target target) const;

  /// The options of a link to a cubin. --require-inlined is one of them in lto mode only.
  /// @throws usage_error as link_flags::make_options.
  [[nodiscard]] link_options make_options(target target, link_mode mode) const;
};

/// Reads the files of the names `name`, of the library, and `transforms`, or those of library_for
/// and the shipped ones where there are none, as `fatlink run`. The kernel of an implied plan is
/// the first of --kernel; without one it is selected as `fatlink run` does. `values`: of --set.
/// @throws usage_error an option has no effect in one of the modes, or with a launch plan; or as
///   add_launch, bind_plan.
/// @throws file_error, format_error as input_file and input::read.
bench_job read_job(std::string const& name, std::vector<std::string> const& transforms,
                   std::string const& mode, std::vector<std::string> const& values,
                   link_flags flags);

/// Generated arguments of a call, on a device. The job and the device must outlive it.
struct bench_call {
  /// The first size that --set and the plan do not state is `count`; `code` is one of the job's
  /// variants. @throws usage_error the plan needs values that have no defaults.
  bench_call(bench_job const& job, device const& destination, prepared_plan const& code,
             std::size_t count, array_copies copies = {});

  run_data data;
  /// `count`; of a call whose sizes are all stated, the elements of its largest input.
  std::size_t elements = 0;
  plan_extents extents;
  plan_arrays arrays;  ///< refers to `data` and `extents`
};

/// The upper median of `values`, which must not be empty.
double median(std::vector<double> values);

/// Calls by the launch plan on a GPU: linked in each mode, compared with a device-to-device copy of
/// as many bytes and, where there is one, with the same sources compiled as one and with a call
/// through a function pointer. Rows for each number of `elements` and variant; for one number only
/// if --set states all sizes. @throws as bench_call.
nlohmann::json measure_plan(device const& gpu, bench_job const& job,
                            std::vector<std::size_t> const& elements);

/// PTX instructions and elements per second and core of the lto link, or of the ptx link of inputs
/// without LTO-IR, on the reference device. Null, with a warning, for inputs that link in neither
/// mode, such as SASS.
nlohmann::json measure_reference_device(bench_job const& job);

/// A row for each link mode of the job: linker::link without the cache, in this process and in the
/// helper, alternately. The overhead leaves nvJitLink's own time out: with a driver, nvJitLink is
/// faster in this process, where it can use the driver's cache. With `resources`, a row has those
/// of the image, too.
nlohmann::json measure_links(bench_job const& job, target target, bool resources);

/// Links in two steps in this process, a row for each kind of image of the first step that
/// nvJitLink makes: `ltoir`, from 13.4 on, to which the library is linked and then with the
/// transforms in lto mode; `relocatable`, from 13.3 on, to which each input is linked alone in lto
/// mode and then all in sass mode. Without lto among the modes there are no rows.
nlohmann::json measure_two_steps(bench_job const& job, target target);

/// Preflight of the first link of the last mode; a fatbin caches what preflight reads.
double measure_preflight(bench_job const& job, target target);

/// The time from inputs that no cache holds to the first launch: with tiers, where the sass link is
/// launched while the lto link is made (live_settings::tiered), and without. No rows, and the
/// reason, where the job has no lto mode, or its inputs no SASS for `target`. `gpu`: null without
/// one; the time of the image is measured then, and nothing is launched.
nlohmann::json measure_first_launch(bench_job const& job, device const* gpu, target target,
                                    std::string& reason);

/// The steps of a start, as "start_ms" names them.
constexpr char const* k_phases[] = {"find", "read", "preflight", "key",   "lookup",
                                    "open", "link", "load",      "launch"};

/// Adds "starts" and "nvcc": the program is run as a user runs it, `link` and `run` in the last
/// mode, without nvJitLink's options, with an empty and with a filled cache alternately; with
/// sources among the inputs, this is the time from source to linked image. Wall time of the whole
/// process, processor time of it and its helpers, its "start_ms", and the speed-up of the warm
/// start. Without a GPU ("device" is null), `run` is measured only where the reference device runs
/// what the cache keeps: lto links to PTX. nvcc compiles the sources of the job, by turns with
/// `link`.
/// @throws unavailable_error a command failed.
void measure_starts(nlohmann::json& report, bench_job const& job, target target);

}  // namespace fatlink::cli
