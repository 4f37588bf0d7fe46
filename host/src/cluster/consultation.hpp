// SPDX-License-Identifier: Apache-2.0
// One round with rank 0: each rank sends a report, rank 0 decides when it has all, and each rank
// gets its answer. If a report is missing, damaged or an error, the answer of all ranks is that
// error. Threads: as the channel.
#pragma once

#include <chrono>
#include <utility>
#include <variant>
#include <vector>

#include "cluster/exchange.hpp"
#include "cluster/message_parts.hpp"
#include "cluster/rank_errors.hpp"
#include "cluster/schedule.hpp"

namespace fatlink::detail {

/// The steps of a round, and until when it waits.
struct consultation_steps {
  message_step report;
  message_step answer;
  rank_channel::time_point reports_end;
  rank_channel::time_point answers_end;
  char const* report_name;  ///< "the confirmation of the image", for errors
  char const* answer_name;
};

template <typename Report, typename Answer>
class consultation {
 public:
  consultation(exchange& messages, schedule const& times, std::chrono::milliseconds limit,
               consultation_steps const& steps)
      : messages_(messages), times_(times), limit_(limit), steps_(steps)
  {
  }

  /// The answer of this rank. `decide` makes those of all ranks from their reports, on rank 0.
  /// @throws the error of all ranks; rank_error rank 0 does not answer.
  template <typename Decide>
  Answer run(outcome<Report> const& own, Decide const& decide)
  {
    auto answer = messages_.rank() == 0 ? lead(own, decide) : ask(own);
    if (auto const* const failure = std::get_if<error_record>(&answer)) throw_error(*failure);
    return std::get<Answer>(std::move(answer));
  }

 private:
  using reports = std::vector<outcome<Report>>;
  using answers = std::vector<outcome<Answer>>;

  outcome<Answer> ask(outcome<Report> const& own)
  {
    auto const report = encode(own);
    messages_.send(steps_.report, {{.destination = 0, .body = report}}, steps_.answers_end);
    try {
      auto const body = messages_.receive(steps_.answer, 0, steps_.answers_end);
      return body ? decode<Answer>(*body) : silence_of({0}, steps_.answer_name, limit_);
    } catch (sequence_error const& damage) {
      return damage_from(0, damage);
    }
  }

  template <typename Decide>
  outcome<Answer> lead(outcome<Report> const& own, Decide const& decide)
  {
    auto decided = decide_all(collect(own), decide);
    send(decided);
    return std::move(decided.front());
  }

  /// The reports of all ranks; errors in place of those that are missing or damaged.
  reports collect(outcome<Report> const& own)
  {
    reports received{own};
    std::vector<unsigned> silent;
    for (unsigned rank = 1; rank < messages_.size(); ++rank) try {
        auto const body = messages_.receive(steps_.report, rank, steps_.reports_end);
        if (!body) silent.push_back(rank);
        received.push_back(body ? decode<Report>(*body) : error_record{});
      } catch (sequence_error const& damage) {
        received.emplace_back(damage_from(rank, damage));
      }
    // A rank that is silent is the cause of what others report.
    if (!silent.empty()) received.front() = silence_of(silent, steps_.report_name, limit_);
    return received;
  }

  template <typename Decide>
  answers decide_all(reports const& received, Decide const& decide)
  {
    for (auto const& report : received)
      if (auto const* const failure = std::get_if<error_record>(&report))
        return answers(received.size(), *failure);
    std::vector<Report> contents;
    for (auto const& report : received) contents.push_back(std::get<Report>(report));
    return decide(contents);
  }

  void send(answers const& decided)
  {
    std::vector<byte_buffer> bodies;
    std::vector<exchange::parcel> parcels;
    bodies.reserve(decided.size());
    for (unsigned rank = 1; rank < decided.size(); ++rank)
      parcels.push_back({.destination = rank, .body = bodies.emplace_back(encode(decided[rank]))});
    auto const is_error = std::holds_alternative<error_record>(decided.front());
    messages_.send(steps_.answer, parcels, is_error ? times_.error_end() : steps_.answers_end);
  }

  exchange& messages_;
  schedule const& times_;
  std::chrono::milliseconds limit_;
  consultation_steps steps_;
};

}  // namespace fatlink::detail
