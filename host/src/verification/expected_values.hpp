// SPDX-License-Identifier: Apache-2.0
// The expected elements of one operation of "computes", visited on all cores; see
// plan_reference.hpp. Every function @throws not_verifiable and file_error as compile_operand.
#pragma once

#include "verification/plan_reference.hpp"

namespace fatlink::detail {

/// What an output is computed by, and what is known of it.
struct expected_output {
  computation const& node;
  program_context const& context;
  element_type const& type;     ///< of the output
  std::size_t count;            ///< elements of the output
  std::optional<double> depth;  ///< hook calls in a row; nothing: not stated
};

void visit_map(expected_output const& output, expected_visitor const& visitor);
void visit_fold(expected_output const& output, expected_visitor const& visitor);
void visit_scan(expected_output const& output, expected_visitor const& visitor);
void visit_segments(expected_output const& output, expected_visitor const& visitor);
void visit_run_folds(expected_output const& output, expected_visitor const& visitor);
void visit_run_scans(expected_output const& output, expected_visitor const& visitor);
void visit_run_lengths(expected_output const& output, expected_visitor const& visitor);
void visit_filter(expected_output const& output, expected_visitor const& visitor);
void visit_count(expected_output const& output, expected_visitor const& visitor);
void visit_histogram(expected_output const& output, expected_visitor const& visitor);
void visit_sorted(expected_output const& output, expected_visitor const& visitor);
void visit_merged(expected_output const& output, expected_visitor const& visitor);
void visit_bounds(expected_output const& output, expected_visitor const& visitor);

/// An output whose operation selects, counts or sorts computed elements, as one of an argument that
/// has these elements.
class computed_source {
 public:
  /// Operand 0 of `output`, which must outlive the object, is a map.
  /// @throws not_verifiable an element may be off by a tolerance, or is a struct.
  explicit computed_source(expected_output const& output);
  computed_source(computed_source const&) = delete;
  computed_source& operator=(computed_source const&) = delete;

  /// Refers to the object.
  [[nodiscard]] expected_output output() const;

 private:
  void compute(std::size_t count, std::size_t size);

  expected_output const& original_;
  computation node_;
  plan_data data_;
  std::vector<std::byte> bytes_ = {};
  program_context context_;
};

/// Operand `index` of an operation, which must have `most` or fewer.
computation const& operand_of(computation const& node, std::size_t index, std::size_t most);
/// The array that operand `operand` of the output's computation names; `most` as operand_of.
array_view const& find_source(expected_output const& output, std::size_t operand = 0,
                              std::size_t most = 1);

/// The elements of `array`, sorted stably by the reference of `hook` with `state`; nothing where
/// `transforms` state none that can be evaluated.
std::optional<std::vector<std::byte>> sort_elements(
    std::vector<transform_reference> const& transforms, std::string const& hook,
    array_view const& array, std::span<std::byte const> state);

/// The offsets of segments, operand 1 of `most` at most, checked: not decreasing, none beyond
/// `count` elements.
std::vector<std::size_t> read_offsets(expected_output const& output, std::size_t count,
                                      std::size_t most);
/// Where the runs begin that `runs`, a unique(…), selects.
std::vector<std::size_t> find_runs(expected_output const& runs);

}  // namespace fatlink::detail
