// SPDX-License-Identifier: Apache-2.0
// ptxas takes every conformance case for the target that it states.
#include "conformance/suite.hpp"
#include "ptxas_fixture.hpp"
#include "test_scale.hpp"

namespace conformance {
namespace {

class PtxasCases : public Ptxas {
 protected:
  /// One call for all cases of a batch; where it fails, one for each.
  void check(batch const& cases) const
  {
    auto const errors = errors_of(cases[0].target, module_of(cases));
    if (errors.empty()) return;
    if (cases.size() == 1) ADD_FAILURE() << cases[0].place(cases[0].line) << ": " << errors;
    if (cases.size() > 1)
      for (auto const& test_case : cases) check({test_case});
  }
};

}  // namespace

/// A third of the cases, and all with $FATLINK_TEST_SCALE above 1.
TEST_F(PtxasCases, TakesEveryConformanceCaseForItsTarget)
{
  auto const step = fixtures::scaled(1) > 1 ? 1U : 3U;
  unsigned number = 0;
  case_list cases;
  for (auto const& path : case_files())
    for (auto const& test_case : read_cases(path))
      if (number++ % step == 0) cases.push_back(test_case);
  for (auto const& group : batches_of(cases)) check(group);
}

}  // namespace conformance
