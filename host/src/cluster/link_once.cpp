// SPDX-License-Identifier: Apache-2.0
// The steps of a call, which rank 0 leads. It collects a report from each rank and sends each rank
// the answer, by messages of their own, so that it knows which ranks are silent and reaches all
// others:
//   1. Each rank reads its inputs and reports the key of its link; the answer are the groups.
//   2. The root of each group links and broadcasts image or error.
//   3. Each rank uses the image and reports that; the answer is whether all have succeeded.
#include "fatlink/link_once.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cluster/error_record.hpp"
#include "cluster/messages.hpp"
#include "linker/check_arguments.hpp"
#include "plan/requested_link.hpp"
#include "util/bytes/sha256.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace detail {
namespace {

/// A round with rank 0: a report from each rank, and the answer to all of them.
struct round_with_rank_0 {
  message_step report;
  message_step answer;
  rank_channel::time_point reports_end;
  rank_channel::time_point answer_end;
  char const* report_name;  ///< "its confirmation of the image", for errors
  char const* answer_name;
};

/// Until when the steps of a call wait. Ranks make the call within one limit of each other; each
/// step takes at most one. A rank that waits for one which may be waiting itself allows for that
/// rank's limit, so that the rank which is at fault is noticed, and named, before those that depend
/// on it.
class schedule {
 public:
  using time_point = rank_channel::time_point;

  explicit schedule(std::chrono::milliseconds limit)
      : limit_(std::min<time_point::duration>(limit, k_longest))
  {
  }

  /// The link starts: the groups are known, at about the same time on all ranks.
  void start_link() { start_ = now(); }

  [[nodiscard]] round_with_rank_0 round_of_keys() const
  {
    return {message_step::key,       message_step::groups,
            start_ + limit_,         start_ + 2 * limit_ + 2 * grace(),
            "its call of link_once", "the assignment of links"};
  }
  /// Rank 0 may have to pass the image on to the others.
  [[nodiscard]] time_point image_end(unsigned rank) const
  {
    return start_ + limit_ + (rank == 0 ? 1 : 2) * grace();
  }
  [[nodiscard]] round_with_rank_0 round_of_results() const
  {
    return {message_step::result,
            message_step::verdict,
            start_ + 2 * limit_ + 2 * grace(),
            start_ + 3 * limit_ + 2 * grace(),
            "its confirmation of the image",
            "the verdict"};
  }
  /// Ranks have taken an error, except for those that have ended.
  [[nodiscard]] time_point error_end() const { return now() + grace(); }

 private:
  static constexpr time_point::duration k_longest = std::chrono::hours(24 * 365);

  static time_point now() { return std::chrono::steady_clock::now(); }
  [[nodiscard]] time_point::duration grace() const { return limit_ / 16; }

  time_point::duration limit_;
  time_point start_ = now();
};

/// The digest of all that the image and the checks of a link depend on, except for the identity of
/// nvJitLink, which only the rank that links looks up. Opens neither nvJitLink nor a helper.
digest256 key_of(linker const& linker, link_task const& task)
{
  auto const& settings = linker.settings();
  check_arguments(task.inputs, task.options);
  auto key = link_key(task.inputs, task.options, {});
  auto const is_confined = settings.isolation == isolation::helper && !settings.allow_unconfined;
  key.add("confined", is_confined ? "yes" : "no");
  key.add("file", settings.nvjitlink.string());
  key.add("inlined", task.options.require_inlined ? "required" : "reported");
  return sha256(std::as_bytes(std::span(key.parts())));
}

/// The groups of several ranks, of which rank i needs the link of `keys[i]`. The lowest one links.
std::vector<link_group> find_groups(std::vector<digest256> const& keys)
{
  struct members {
    std::uint32_t lowest = 0;
    std::size_t count = 0;
  };
  std::map<digest256, members> all;
  for (std::uint32_t rank = 0; rank < keys.size(); ++rank)
    ++all.try_emplace(keys[rank], members{.lowest = rank}).first->second.count;
  std::vector<link_group> groups;
  for (auto const& [key, found] : all)
    if (found.count > 1) groups.push_back({.key = key, .root = found.lowest});
  return groups;
}

class collective_link {
 public:
  using link_result = outcome<linked_image>;

  collective_link(rank_channel& ranks, linker& linker, std::chrono::milliseconds limit)
      : ranks_(ranks), linker_(linker), limit_(limit), times_(limit)
  {
  }

  void run(std::function<link_task()> const& read, std::function<void(linked_image)> const& use)
  {
    auto const groups = share_key(read);
    times_.start_link();
    share_result(share_image(groups), use);
  }

 private:
  std::vector<link_group> share_key(std::function<link_task()> const& read)
  {
    auto const key = named(attempt<digest256>([&] {
      task_ = read();
      return key_of(linker_, task_);
    }));
    if (auto const* const known = std::get_if<digest256>(&key)) key_ = *known;
    return ask<std::vector<link_group>>(key, find_groups, times_.round_of_keys());
  }

  /// The image of this rank, after the broadcasts of all groups. Each of them reaches all ranks:
  /// MPI has no way to make a communicator for a group that ends after a limit.
  link_result share_image(std::vector<link_group> const& groups)
  {
    auto const own = std::ranges::find(groups, key_, &link_group::key);
    auto const is_root = own == groups.end() || own->root == ranks_.rank();
    auto result = is_root ? link() : link_result{};
    for (auto group = groups.begin(); group != groups.end(); ++group) {
      auto const is_sender = is_root && group == own;
      auto const message = ranks_.broadcast(
          group->root, is_sender ? write_message(message_step::image, result) : byte_buffer{},
          times_.image_end(ranks_.rank()));
      if (!message) return silence_of({group->root}, "the image", limit_);
      if (group == own && !is_root)
        result = read_message<linked_image>(*message, message_step::image, group->root);
    }
    return result;
  }

  link_result link()
  {
    return attempt<linked_image>([&] { return linker_.link(task_.inputs, task_.options); });
  }

  void share_result(link_result image, std::function<void(linked_image)> const& use)
  {
    auto const result = std::holds_alternative<error_record>(image)
                            ? outcome<std::monostate>(std::get<error_record>(std::move(image)))
                            : use_image(std::get<linked_image>(std::move(image)), use);
    ask<std::monostate>(
        result, [](auto const& /*results*/) { return std::monostate{}; },
        times_.round_of_results());
  }

  outcome<std::monostate> use_image(linked_image image,
                                    std::function<void(linked_image)> const& use)
  {
    return named(attempt<std::monostate>([&] {
      use(std::move(image));
      return std::monostate{};
    }));
  }

  /// An error with the name of this rank.
  template <typename Content>
  outcome<Content> named(outcome<Content> result) const
  {
    if (auto* const failure = std::get_if<error_record>(&result))
      failure->details.message.insert(0, detail::format("rank {}: ", ranks_.rank()));
    return result;
  }

  /// What `decide` makes of the reports of all ranks, on all ranks.
  /// @throws rank_error ranks are silent, or one reports it: it may be unable to take part in
  ///   another broadcast. @throws otherwise the error of the lowest rank that reports one.
  template <typename Answer, typename Report, typename Decide>
  Answer ask(outcome<Report> const& own, Decide const& decide, round_with_rank_0 const& steps)
  {
    auto result = ranks_.rank() == 0 ? decide_all<Answer>(collect(own, steps), decide)
                                     : report<Answer>(own, steps);
    auto const* const failure = std::get_if<error_record>(&result);
    if (ranks_.rank() == 0)
      send_to_all(write_message(steps.answer, result),
                  failure != nullptr ? times_.error_end() : steps.answer_end);
    if (failure != nullptr) throw_error(*failure);
    return std::get<Answer>(std::move(result));
  }

  template <typename Answer, typename Report>
  outcome<Answer> report(outcome<Report> const& own, round_with_rank_0 const& steps)
  {
    auto const message = write_message(steps.report, own);
    ranks_.send({{.destination = 0, .bytes = message}}, steps.answer_end);
    auto const answer = ranks_.receive(0, steps.answer_end);
    if (!answer) return silence_of({0}, steps.answer_name, limit_);
    return read_message<Answer>(*answer, steps.answer, 0);
  }

  /// The reports of all ranks; a rank_error in place of the first one if ranks are silent.
  template <typename Report>
  std::vector<outcome<Report>> collect(outcome<Report> const& own, round_with_rank_0 const& steps)
  {
    std::vector<outcome<Report>> reports{own};
    std::vector<unsigned> silent;
    for (unsigned rank = 1; rank < ranks_.size(); ++rank) {
      auto const message = ranks_.receive(rank, steps.reports_end);
      if (!message) silent.push_back(rank);
      reports.push_back(message ? read_message<Report>(*message, steps.report, rank)
                                : outcome<Report>{});
    }
    // A rank that is silent is the cause of what others report.
    if (!silent.empty()) reports.front() = silence_of(std::move(silent), steps.report_name, limit_);
    return reports;
  }

  template <typename Answer, typename Report, typename Decide>
  static outcome<Answer> decide_all(std::vector<outcome<Report>> const& reports,
                                    Decide const& decide)
  {
    error_record const* failure = nullptr;
    std::vector<Report> contents;
    for (auto const& report : reports) {
      auto const* const found = std::get_if<error_record>(&report);
      if (found == nullptr)
        contents.push_back(std::get<Report>(report));
      else if (failure == nullptr ||
               (found->type == error_type::rank && failure->type != error_type::rank))
        failure = found;
    }
    if (failure != nullptr) return *failure;
    return decide(contents);
  }

  void send_to_all(bytes_view message, rank_channel::time_point deadline)
  {
    std::vector<rank_message> messages;
    for (unsigned rank = 1; rank < ranks_.size(); ++rank)
      messages.push_back({.destination = rank, .bytes = message});
    ranks_.send(messages, deadline);
  }

  rank_channel& ranks_;
  linker& linker_;
  std::chrono::milliseconds limit_;
  schedule times_;
  link_task task_ = {};
  digest256 key_ = {};
};

/// Links what `read` returns, once for all ranks that need the same, and passes the image to `use`
/// on each rank. Errors of both are errors of all ranks.
void link_collectively(rank_channel& ranks, linker& linker, link_once_settings const& settings,
                       std::function<link_task()> const& read,
                       std::function<void(linked_image)> const& use)
{
  auto const limit_ms = settings.wait_limit.count();
  if (limit_ms <= 0)
    throw usage_error({.message = detail::format("a limit of {} ms for other ranks", limit_ms),
                       .input = std::to_string(limit_ms),
                       .code = error_code::invalid_time_limit,
                       .hint = "set link_once_settings::wait_limit to more than 0"});
  collective_link(ranks, linker, settings.wait_limit).run(read, use);
}

}  // namespace
}  // namespace detail

linked_image link_once(rank_channel& ranks, linker& linker, std::function<link_task()> const& read,
                       link_once_settings const& settings)
{
  linked_image result;
  detail::link_collectively(ranks, linker, settings, read,
                            [&](linked_image image) { result = std::move(image); });
  return result;
}

linked_image link_once(rank_channel& ranks, linker& linker, std::vector<input> const& inputs,
                       link_options const& options, link_once_settings const& settings)
{
  return link_once(
      ranks, linker, [&] { return link_task{.inputs = inputs, .options = options}; }, settings);
}

prepared_plan prepare_once(rank_channel& ranks, std::function<device()> const& open, linker& linker,
                           plan_request const& request, link_once_settings const& settings)
{
  std::optional<device> destination;
  detail::requested_link requested;
  std::optional<prepared_plan> result;
  auto const read = [&] {
    destination = open();
    requested = detail::read_request(*destination, request);
    return link_task{.inputs = requested.inputs, .options = requested.options};
  };
  detail::link_collectively(ranks, linker, settings, read, [&](linked_image image) {
    result = prepare(*destination, std::move(requested.plan), requested.inputs, std::move(image));
  });
  return std::move(*result);
}

prepared_plan prepare_once(rank_channel& ranks, device const& destination, linker& linker,
                           plan_request const& request, link_once_settings const& settings)
{
  return prepare_once(
      ranks, [&] { return destination; }, linker, request, settings);
}

}  // namespace fatlink
