// SPDX-License-Identifier: Apache-2.0
// The steps of a call, of which rank 0 leads the first and the last:
//   1. Each rank reads its inputs and reports the key of its link; rank 0 assigns the roles.
//   2. The lowest rank of each key links; image or error reach the others through a tree.
//   3. Each rank uses the image and confirms that; rank 0 decides whether all have succeeded.
#include "cluster/collective_link.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cluster/consultation.hpp"
#include "cluster/exchange.hpp"
#include "cluster/group_key.hpp"
#include "cluster/message_parts.hpp"
#include "cluster/rank_errors.hpp"
#include "cluster/rank_tree.hpp"
#include "cluster/schedule.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// An image, or the error because of which there is none.
struct link_result {
  outcome<linked_image> image = {};
  bool is_reported = false;  ///< another rank reports the error
};

class collective_link {
 public:
  collective_link(rank_channel& ranks, linker& linker, std::chrono::milliseconds limit)
      : messages_(ranks), linker_(linker), limit_(limit), times_(limit, ranks.size())
  {
  }

  void run(std::function<link_task()> const& read, std::function<void(linked_image)> const& use)
  {
    auto const role = find_role(read);
    times_.start_link();
    auto result = is_linking(role) ? link(role) : receive(role);
    confirm(std::move(result), use);
  }

 private:
  [[nodiscard]] bool is_linking(tree_role const& role) const
  {
    return role.parent == messages_.rank();
  }

  tree_role find_role(std::function<link_task()> const& read)
  {
    consultation<digest256, tree_role> round(messages_, times_, limit_,
                                             {.report = message_step::report,
                                              .answer = message_step::role,
                                              .reports_end = times_.reports_end(),
                                              .answers_end = times_.roles_end(),
                                              .report_name = "its call of link_once",
                                              .answer_name = "the assignment of links"});
    return round.run(read_task(read), [](std::vector<digest256> const& keys) {
      auto const roles = assign_roles(keys);
      return std::vector<outcome<tree_role>>(roles.begin(), roles.end());
    });
  }

  outcome<digest256> read_task(std::function<link_task()> const& read)
  {
    return named(attempt<digest256>([&] {
      task_ = read();
      return group_key(linker_, task_);
    }));
  }

  /// An error with the name of this rank.
  template <typename Content>
  outcome<Content> named(outcome<Content> result) const
  {
    if (auto* const failure = std::get_if<error_record>(&result))
      *failure = of_rank(messages_.rank(), std::move(*failure));
    return result;
  }

  link_result link(tree_role const& role)
  {
    auto image = attempt<linked_image>([&] { return linker_.link(task_.inputs, task_.options); });
    auto body = encode(image);
    if (body.size() > k_largest_body) body = encode(image = too_large(body.size()));
    forward(role, body);
    return {.image = std::move(image)};
  }

  /// What the parent sends, sent to the children.
  link_result receive(tree_role const& role)
  {
    auto failure = silence_of({role.parent}, "the image", limit_);
    try {
      if (auto const body =
              messages_.receive(message_step::image, role.parent, times_.image_end(role.depth))) {
        auto image = decode<linked_image>(*body);
        forward(role, *body);
        auto const is_error = std::holds_alternative<error_record>(image);
        return {.image = std::move(image), .is_reported = is_error};
      }
    } catch (sequence_error const& damage) {
      failure = damage_from(role.parent, damage);
    }
    forward(role, encode(outcome<linked_image>(failure)));
    return {.image = std::move(failure)};
  }

  void forward(tree_role const& role, bytes_view body)
  {
    std::vector<exchange::parcel> parcels;
    for (auto const child : role.children) parcels.push_back({.destination = child, .body = body});
    messages_.send(message_step::image, parcels, times_.forwarding_end());
  }

  void confirm(link_result result, std::function<void(linked_image)> const& use)
  {
    consultation<link_state, std::monostate> round(messages_, times_, limit_,
                                                   {.report = message_step::confirmation,
                                                    .answer = message_step::verdict,
                                                    .reports_end = times_.confirmations_end(),
                                                    .answers_end = times_.verdict_end(),
                                                    .report_name = "its confirmation of the image",
                                                    .answer_name = "the verdict"});
    round.run(use_image(std::move(result), use), [](std::vector<link_state> const& states) {
      return std::vector<outcome<std::monostate>>(states.size());
    });
  }

  outcome<link_state> use_image(link_result result, std::function<void(linked_image)> const& use)
  {
    if (auto* const failure = std::get_if<error_record>(&result.image)) {
      if (result.is_reported) return link_state::has_no_image;
      return std::move(*failure);
    }
    return named(attempt<link_state>([&] {
      use(std::get<linked_image>(std::move(result.image)));
      return link_state::done;
    }));
  }

  exchange messages_;
  linker& linker_;
  std::chrono::milliseconds limit_;
  schedule times_;
  link_task task_ = {};
};

}  // namespace

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

}  // namespace fatlink::detail
