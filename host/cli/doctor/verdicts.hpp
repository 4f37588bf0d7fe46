// SPDX-License-Identifier: Apache-2.0
// What this machine can do with fatlink, and what to do where it cannot: from what `doctor` found.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fatlink::cli {

struct verdict {
  std::string name;   ///< key in --json: "link", "run_on_gpu", …
  std::string title;  ///< "run on a GPU"
  bool ok = false;
  std::string detail = {};  ///< of a yes: what works; of a no: the cause
  std::string remedy = {};  ///< of a no; of a yes with a limitation
};

/// `findings`: the object that doctor prints with --json, without its verdicts.
std::vector<verdict> judge_machine(nlohmann::json const& findings);

/// {"link": {"ok": true, "detail": "…", "remedy": ""}, …}
nlohmann::json to_json(std::vector<verdict> const& verdicts);

/// One line each: "  link    yes", "  run on a GPU    no: CAUSE; REMEDY".
void print_verdicts(std::vector<verdict> const& verdicts);

}  // namespace fatlink::cli
