// SPDX-License-Identifier: Apache-2.0
// fatlink run: links, executes by the launch plan, and verifies, on one device or several. Errors
// in arguments and files are reported before a device is opened.
#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "device/devices.hpp"
#include "error_report.hpp"
#include "fatlink/prepare.hpp"
#include "options.hpp"
#include "run/execute_plan.hpp"
#include "run/implied_plan.hpp"
#include "run/run_arguments.hpp"
#include "run/run_job.hpp"
#include "run/run_report.hpp"
#include "run/verify_plan.hpp"
#include "terminal/progress.hpp"
#include "terminal/streams.hpp"
#include "util/process/stopwatch.hpp"

namespace fatlink::cli {
namespace {

/// How many of `devices` are open.
std::size_t count_open(opened_devices const& devices)
{
  return static_cast<std::size_t>(
      std::ranges::count_if(devices, [](auto const& device) { return bool(device); }));
}

/// What ends an endless loop: "; limit: --instruction-budget 1073741824". Empty on GPUs, which have
/// none.
std::string budget_text(device_kind kind, std::uint64_t budget)
{
  if (kind != device_kind::cpu) return {};
  if (budget == 0) return "; no limit: --instruction-budget 0";
  return fmt::format("; limit: --instruction-budget {}", budget);
}

/// Where the threads of several devices wait for each other before measured launches.
using common_start = std::barrier<>;

/// The membership of a device's thread: it leaves when it ends, however that is, so that a thread
/// that fails does not stop the others.
class run_member {
 public:
  explicit run_member(common_start& start) : start_(start) {}
  ~run_member() { start_.arrive_and_drop(); }
  run_member(run_member const&) = delete;
  run_member& operator=(run_member const&) = delete;

 private:
  common_start& start_;
};

/// One run, from a job to its report. Threads: one for each device while it executes.
class plan_run {
 public:
  plan_run(run_job& job, run_arguments const& arguments, device_choice& choice,
           compile_report const& compiles)
      : job_(job), arguments_(arguments), choice_(choice), links_(share_links(job.links))
  {
    report_ = {.is_implied = job.is_implied,
               .sizes = job.data.sizes,
               .modes = job.links.modes,
               .no_gpu_reason = choice.no_gpu_reason(),
               .read_ms = job.read_ms,
               .compiles = compiles,
               .warnings = compiles.warnings,
               .resources = arguments.resources};
    for (auto const& file : job.files) report_.files.push_back(file.string());
    if (job.split.refusal.empty())
      report_.rows = static_cast<std::size_t>(job.data.sizes.at(job.split.size));
    for (auto& warning : warn_of_states(job)) report_.warnings.push_back(std::move(warning));
  }

  run_report run()
  {
    auto const devices = open();
    divide(devices);
    execute(devices);
    fail_if_shared();
    if (choice_.is_list()) take_images();
    take_hooks();
    verify();
    report_.plan = job_.plan;
    report_.references = job_.references.list;
    if (report_.verified() && report_.is_complete()) write_outputs();
    return std::move(report_);
  }

 private:
  /// Links for the device of a choice that is no list while it opens.
  opened_devices open()
  {
    if (choice_.is_list()) {
      auto devices = choice_.finish_open(arguments_.cpu);
      for (auto const& device : devices)
        if (device) check_options(job_.links, (*device.value)->info(), arguments_.resources);
      report_.device_ms = choice_.ms();
      return devices;
    }
    auto const info = choice_.begin_open(arguments_.cpu);
    report_.no_gpu_reason = choice_.no_gpu_reason();
    check_options(job_.links, info, arguments_.resources);
    for (auto const mode : job_.links.modes) (void)links_.get(info, mode);
    take_images();
    auto devices = choice_.finish_open(arguments_.cpu);
    report_.device_ms = choice_.ms();
    return devices;
  }

  /// @throws usage_error there are fewer rows than open devices.
  void divide(opened_devices const& devices)
  {
    auto const open = count_open(devices);
    auto const rows = report_.rows.value_or(0);
    if (choice_.is_list() && rows < open)
      fail_usage(fmt::format("{} element{} cannot be divided among {} devices", rows,
                             rows == 1 ? "" : "s", open),
                 "--device", "run it on one device, or with more elements");
    if (choice_.is_list()) check_divided_data();
    auto const parts = cli::divide(rows, open);
    auto part = parts.begin();
    for (auto const& device : devices) {
      device_run row{.device = device.device, .failure = device.failure};
      if (device) {
        row.info = (*device.value)->info();
        row.part = *part++;
        row.data = choice_.is_list() ? part_of(job_.data, job_.split, row.part) : job_.data;
      }
      report_.devices.push_back(std::move(row));
    }
  }

  void check_divided_data() const
  {
    auto const& of_device = job_.data.of_device;
    if (!of_device.empty())
      require_divisible(job_.plan, {.refusal = fmt::format("the extent of {} depends on the device",
                                                           of_device.front())});
    check_expected(job_.split, job_.data);
  }

  void execute(opened_devices const& devices)
  {
    auto const count = count_open(devices);
    std::optional<step_line> line;
    auto const has_cpu = std::ranges::any_of(devices, [](auto const& device) {
      return device && (*device.value)->info().kind == device_kind::cpu;
    });
    if (choice_.is_list())
      line.emplace(fmt::format("running on {} devices", count),
                   budget_text(has_cpu ? device_kind::cpu : device_kind::gpu,
                               arguments_.cpu.instruction_budget));
    common_start start(static_cast<std::ptrdiff_t>(count));
    auto results = detail::on_each_device<std::vector<mode_result>>(
        devices, [&](std::shared_ptr<device> const& device, std::size_t index) {
          run_member const member(start);
          return execute_part(*device, report_.devices[index].data, start);
        });
    for (std::size_t i = 0; i < results.size(); ++i) {
      report_.devices[i].failure = results[i].failure;
      if (results[i]) report_.devices[i].modes = std::move(*results[i].value);
    }
  }

  /// On the thread of a device.
  std::vector<mode_result> execute_part(device const& destination, run_data& data,
                                        common_start& start)
  {
    std::vector<std::shared_ptr<linked_image const>> images;
    for (auto const mode : job_.links.modes) images.push_back(links_.get(destination.info(), mode));
    std::vector<mode_result> results;
    device_arrays inputs;
    for (auto const& image : images) {
      if (!results.empty()) save_memory(destination, results.back());
      results.push_back(execute_image(destination, *image, data,
                                      {.unwritten = k_unwritten_bytes.at(results.size()),
                                       .inputs = &inputs,
                                       .is_by_rows = job_.split.is_by_rows(),
                                       .before_launch = [&] { start.arrive_and_wait(); }}));
    }
    return results;
  }

  mode_result execute_image(device const& destination, linked_image const& image, run_data& data,
                            execution_options const& options) const
  {
    std::optional<step_line> line;
    if (!choice_.is_list())
      line.emplace(fmt::format("running {} mode on {}", to_string(image.mode),
                               to_string(destination.info().kind)),
                   budget_text(destination.info().kind, arguments_.cpu.instruction_budget));
    detail::stopwatch watch;
    auto const code = prepare(destination, job_.plan, job_.links.inputs, image);
    auto const load_ms = watch.lap();
    add_device_inputs(data, code, job_.arguments, job_.generated);
    auto result = execute_plan(destination, code, data, options);
    result.load_ms = load_ms;
    return result;
  }

  /// Of large results on the reference device, only those of the last mode stay in memory.
  static void save_memory(device const& destination, mode_result& result)
  {
    if (destination.info().kind != device_kind::cpu) return;
    for (auto& [name, array] : result.outputs)
      if (array.memory == nullptr && array.bytes() > piece_bytes(device_kind::cpu))
        set_aside(array);
  }

  /// If the only links failed, so that no device ran. @throws the error that all devices share.
  void fail_if_shared() const
  {
    auto const& failure = report_.devices.front().failure;
    auto const has_same = [&](device_run const& device) { return device.failure == failure; };
    if (failure && std::ranges::all_of(report_.devices, has_same)) std::rethrow_exception(failure);
  }

  /// Adds the images and the warnings of their links, which it prints once.
  void take_images()
  {
    std::vector<std::string> warnings;
    for (auto const mode : job_.links.modes) {
      report_.images.push_back(links_.images(mode));
      for (auto const& image : report_.images.back())
        for (auto const& warning : image->warnings)
          if (std::ranges::find(warnings, warning) == warnings.end()) warnings.push_back(warning);
    }
    print_warnings(warnings);
    report_.warnings.insert(report_.warnings.end(), warnings.begin(), warnings.end());
  }

  /// What the links fill.
  void take_hooks()
  {
    for (auto const& images : report_.images)
      if (!images.empty())
        report_.filled_hooks.merge(filled_hooks(*images.front(), job_.links.inputs));
    if (job_.is_implied) no_reference_ = add_hook(job_.plan, report_.filled_hooks);
  }

  void verify()
  {
    detail::stopwatch watch;
    plan_expectations const expected{job_.plan, job_.references, no_reference_};
    for (auto& device : report_.devices) {
      if (device.modes.empty()) continue;
      auto result = compare_modes(expected, job_.split, device.data, device.modes,
                                  [&](double part) { progress_.show("verifying", part); });
      for (auto const& mode : result.modes) device.verified.push_back(is_verified(mode));
      if (device.part.first != 0)
        result.move([&](std::string const& name) { return elements_before(device, name); });
      report_.results.add(result);
      add_first_rows(expected, device);
    }
    add_first_sums(expected);
    if (arguments_.compare_cpu) compare_with_reference_device(expected);
    if (!has_inputs())
      for (auto& mode : report_.results.modes) {
        mark_empty(mode.references);
        mark_empty(mode.expectations);
      }
    mark_empty(report_.results.between);
    mark_empty(report_.against_cpu);
    report_.row_bytes = bytes_of_row();
    report_.verify_ms = watch.lap();
  }

  /// If a device got elements, an output may be expected to be empty: a selection of none.
  [[nodiscard]] bool has_inputs() const
  {
    return std::ranges::any_of(report_.devices, [](device_run const& device) {
      return std::ranges::any_of(device.data.inputs,
                                 [](auto const& input) { return input.second.bytes() > 0; });
    });
  }

  /// Nothing is verified where there is nothing.
  static void mark_empty(comparisons& results)
  {
    for (auto& [name, result] : results)
      if (result.reason.empty() && result.elements == 0)
        result = {.reason = "there are no elements"};
  }

  /// The elements of a divided output before those of the device; none of one that is added.
  [[nodiscard]] std::size_t elements_before(device_run const& device, std::string const& name) const
  {
    if (!choice_.is_list() || !job_.split.divided.contains(name)) return 0;
    auto const& array = device.modes.front().outputs.at(name);
    return device.part.first * (array.count() / device.part.count);
  }

  void add_first_rows(plan_expectations const& expected, device_run const& device)
  {
    for (auto& row :
         cli::first_rows(expected, job_.split, device.data, device.modes, arguments_.print)) {
      auto const name = row["output"].get<std::string>();
      if (choice_.is_list() && job_.split.added.contains(name)) continue;
      auto const index = row["index"].get<std::size_t>() + elements_before(device, name);
      if (index < arguments_.print) add_row(std::move(row), device.modes.front(), index);
    }
  }

  /// Element `index` of the output that `row` names.
  void add_row(nlohmann::json row, mode_result const& mode, std::size_t index)
  {
    row["index"] = index_text(mode.outputs.at(row["output"]).extents, index);
    report_.first_rows.push_back(std::move(row));
  }

  /// The first elements of outputs that are the sums of what several devices count.
  void add_first_sums(plan_expectations const& expected)
  {
    if (!choice_.is_list() || job_.split.added.empty() || arguments_.print == 0) return;
    std::vector<mode_result> sums;
    for (std::size_t i = 0; i < report_.modes.size(); ++i) {
      mode_result sum{.image = {.mode = report_.modes[i]}};
      for (auto const& name : job_.split.added)
        if (auto const first = first_device()) sum.outputs[name] = held(sum_of(name, i));
      if (!sum.outputs.empty()) sums.push_back(std::move(sum));
    }
    if (sums.empty()) return;
    plan_references const none;
    for (auto& row : cli::first_rows({expected.plan, none, "of several devices"}, job_.split,
                                     {.sizes = job_.data.sizes}, sums, arguments_.print))
      add_row(row, sums.front(), row["index"]);
  }

  [[nodiscard]] device_run const* first_device() const
  {
    auto const place = std::ranges::find_if(
        report_.devices, [](device_run const& device) { return !device.modes.empty(); });
    return place == report_.devices.end() ? nullptr : &*place;
  }

  /// The sum of what the devices counted: unsigned or two's complement numbers, as they count.
  [[nodiscard]] host_array sum_of(std::string const& name, std::size_t mode) const
  {
    host_array sum;
    for (auto const& device : report_.devices) {
      if (device.modes.empty()) continue;
      auto const part = device.modes[mode].outputs.at(name).read();
      if (sum.bytes.empty())
        sum = part;
      else
        add_counts(sum, part);
    }
    return sum;
  }

  static void add_counts(host_array& sum, host_array const& part)
  {
    auto const size = sum.type.size;
    for (std::size_t i = 0; i < sum.bytes.size(); i += size) {
      std::uint64_t total = 0;
      std::uint64_t count = 0;
      std::memcpy(&total, sum.bytes.data() + i, size);
      std::memcpy(&count, part.bytes.data() + i, size);
      total += count;
      std::memcpy(sum.bytes.data() + i, &total, size);
    }
  }

  /// Runs the image of the first mode on the reference device, too.
  void compare_with_reference_device(plan_expectations const& expected)
  {
    auto const reference_device = open_device("cpu", arguments_.cpu);
    auto const image = links_.get(reference_device->info(), link_mode::lto);
    auto& row = report_.devices.front();
    auto const result = execute_image(
        *reference_device, *image, row.data,
        {.unwritten = k_unwritten_bytes.back(), .is_by_rows = job_.split.is_by_rows()});
    report_.against_cpu =
        compare_with_cpu(expected, job_.split, row.data, result, row.modes.front());
  }

  [[nodiscard]] std::size_t bytes_of_row() const
  {
    auto const* const device = first_device();
    if (device == nullptr || !report_.rows || *report_.rows == 0) return 0;
    auto const rows = choice_.is_list() ? device->part.count : *report_.rows;
    std::size_t bytes = 0;
    for (auto const& [name, array] : device->data.inputs) bytes += array.bytes();
    for (auto const& [name, array] : device->modes.front().outputs) bytes += array.bytes();
    return bytes / rows;
  }

  void write_outputs() const
  {
    for (auto const& [name, file] : job_.arguments.outputs) {
      if (choice_.is_list() && job_.split.added.contains(name))
        write(file, {held(sum_of(name, report_.modes.size() - 1))});
      else
        write(file, parts_of(name));
    }
  }

  /// The parts of an output of the last mode, in order.
  [[nodiscard]] std::vector<run_array> parts_of(std::string const& name) const
  {
    std::vector<run_array> parts;
    for (auto const& device : report_.devices)
      if (!device.modes.empty()) parts.push_back(device.modes.back().outputs.at(name));
    return parts;
  }

  static void write(std::string const& file, std::vector<run_array> const& parts)
  {
    auto extents = parts.front().extents;
    for (std::size_t i = 1; i < parts.size(); ++i) extents.front() += parts[i].extents.front();
    auto const writer = create_npy(file, parts.front().type, extents);
    for (auto const& part : parts)
      part.read_pieces(piece_bytes(device_kind::cpu), [&](std::size_t, std::span<std::byte> piece) {
        writer->append(piece);
        return true;
      });
    writer->commit();
  }

  run_job& job_;
  run_arguments const& arguments_;
  device_choice& choice_;
  detail::shared_links links_;
  std::string no_reference_;
  progress progress_;
  run_report report_;
};

/// @throws usage_error, unavailable_error --compare-cpu has no meaning with these devices.
void check_comparison(run_arguments const& arguments, device_choice& choice)
{
  if (!arguments.compare_cpu) return;
  if (choice.is_list())
    fail_usage("--compare-cpu: the results of several devices are not compared with cpu",
               "--compare-cpu", "run it on one GPU: --device gpu:0; or leave out --compare-cpu");
  if (choice.is_reference_device())
    throw unavailable_error(stage::device,
                            {.message = "--compare-cpu: the run already uses the reference device",
                             .input = "--compare-cpu",
                             .code = error_code::needs_gpu,
                             .hint = "run it on a GPU: --device gpu; or leave out --compare-cpu"});
}

}  // namespace

int run(run_arguments const& given, compile_report& compiles)
{
  auto const arguments = with_library(given);
  device_choice choice(arguments.device);
  auto job = prepare_job(arguments, choice, compiles);
  check_comparison(arguments, choice);
  auto const report = plan_run(job, arguments, choice, compiles).run();
  if (arguments.json)
    print_json("fatlink.run/2", report_json(report));
  else
    print_text(report);
  std::fflush(stdout);  // closing the devices takes time
  print_failures(report);
  return report.status();
}

void add_run(CLI::App& app, int& exit_status)
{
  auto arguments = std::make_shared<run_arguments>();
  auto* verb = app.add_subcommand("run", "Link a library with transforms, execute and verify.");
  add_run_arguments(*verb, *arguments);
  verb->footer("Example: fatlink run gelu --elements 1000000");
  verb->callback([arguments, &exit_status] {
    arguments->link.note_inputs({arguments->library, arguments->watched});
    arguments->link.note_inputs(arguments->positional);
    arguments->link.note_inputs(arguments->transforms);
    compile_report compiles;
    exit_status = arguments->watched.empty() ? run(*arguments, compiles) : run_watching(*arguments);
  });
}

}  // namespace fatlink::cli
