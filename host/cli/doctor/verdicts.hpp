// SPDX-License-Identifier: Apache-2.0
// What works on this machine, and what to do if something does not, from the findings of `doctor`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fatlink::cli {

struct verdict {
  std::string name;   ///< key in --json: "link", "run_on_gpu", …
  std::string title;  ///< "run on a GPU"
  bool ok = false;
  std::string detail = {};  ///< if ok: what works; else the cause
  std::string remedy = {};  ///< what to do; empty if nothing is needed
};

/// `findings`: the object that doctor prints with --json, without its verdicts.
std::vector<verdict> check_machine(nlohmann::json const& findings);

/// {"link": {"ok": true, "detail": "…", "remedy": ""}, …}
nlohmann::json to_json(std::vector<verdict> const& verdicts);

/// One line each: "  link    yes", "  run on a GPU    no: CAUSE; REMEDY".
void print_verdicts(std::vector<verdict> const& verdicts);

}  // namespace fatlink::cli
