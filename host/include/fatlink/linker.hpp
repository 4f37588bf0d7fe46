// SPDX-License-Identifier: Apache-2.0
// Links fatbins to one image with nvJitLink. Preflight runs first; a finding of severity error
// stops the link before nvJitLink sees a byte. What nvJitLink prints on the process's standard
// error is captured; its `@E@` lines fail the link in both modes.
// Threads: one linker may be used by several threads. In one process links are serialised while
// nvJitLink's standard error is captured; workers link side by side.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/image.hpp"
#include "fatlink/nvjitlink.hpp"
#include "fatlink/preflight.hpp"

namespace fatlink {

/// Where nvJitLink runs. In a process of its own (fatlink-linkd) damaged inputs that crash or hang
/// it fail the link and nothing else; in the host's own, a first link starts somewhat sooner.
enum class isolation { in_process, worker };

struct link_options {
  fatlink::target target;
  link_mode mode = link_mode::lto;
  /// PTX can be emitted in LTO mode only, a ptx_set in PTX mode only (no nvJitLink is needed).
  image_kind emit = image_kind::cubin;
  std::string kernel;            ///< must be in an input; empty: any
  bool require_inlined = false;  ///< a hook still called after the link is an error
};

class linker {
 public:
  /// Finds nvJitLink at the first link, not now.
  linker() = default;
  explicit linker(std::shared_ptr<nvjitlink const> library) : library_(std::move(library)) {}
  /// `limit`: how long a link may take; of a worker alone.
  explicit linker(isolation where, std::chrono::milliseconds limit = std::chrono::seconds(60))
      : isolation_(where), limit_(limit)
  {
  }

  /// Links `inputs`, the library's fatbin first. The float flags the entries record are
  /// passed on, so both modes compute alike. Deterministic: the same inputs, the same bytes.
  /// @throws refused_error preflight found an error.
  /// @throws link_error nvJitLink failed; log and code are complete. Or its worker died (code
  ///   SIGSEGV, …) or took too long (ETIMEDOUT); or a call is left (NOT_INLINED).
  /// @throws unavailable_error no nvJitLink.
  /// @throws usage_error `emit` is not of the mode.
  linked_image link(std::vector<fatbin> const& inputs, link_options const& options);

 private:
  void link_with_nvjitlink(linked_image& image, std::vector<fatbin> const& inputs,
                           link_options const& options);

  std::shared_ptr<nvjitlink const> library_;
  isolation isolation_ = isolation::in_process;
  std::chrono::milliseconds limit_{};
};

}  // namespace fatlink
