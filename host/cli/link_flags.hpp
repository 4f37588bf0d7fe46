// SPDX-License-Identifier: Apache-2.0
// The options of every verb that links: where it links, which inputs it takes, and nvJitLink's
// options, the fields of link_options as flags. Values are checked while the command line is
// parsed, the rest by check_link_options.
#pragma once

#include "fatlink/linker.hpp"
#include "source_inputs.hpp"
#include "verbs.hpp"

namespace fatlink::cli {

struct link_flags {
  bool in_process = false;
  bool allow_unconfined = false;
  double limit_s = 60;
  bool no_cache = false;
  bool offline = false;
  bool require_inlined = false;
  link_options options = {};   ///< what --max-registers and the like set
  compile_flags sources = {};  ///< of inputs that are sources
  /// Whether an input is a source: the float flags then say how it is compiled, too. Those that are
  /// not stated have the compiler's defaults, so that an lto link has one set.
  bool has_sources = false;

  /// Sets `has_sources`.
  void note_inputs(std::vector<std::string> const& names);

  /// A linker with these options: by default in the helper, with the cache.
  [[nodiscard]] fatlink::linker linker() const;

  /// `sources`, with the cache and the sandbox of the links.
  [[nodiscard]] compile_flags source_flags() const;

  /// These flags for a link in `mode`, one of `modes`: where ptx and lto are linked,
  /// --require-inlined applies to the lto link.
  [[nodiscard]] link_flags for_mode(link_mode mode, std::vector<link_mode> const& modes) const;

  /// `options` for this link.
  /// @throws usage_error what check_link_options refuses.
  [[nodiscard]] link_options make_options(target target, link_mode mode, image_kind emit) const;
};

/// How sources are compiled for a link with `options`.
float_flags compile_float_flags(link_options const& options);

/// `options` of a link in `mode` of sources that are compiled with its float flags: in lto mode all
/// of them, otherwise none, if one is stated.
void complete_float_flags(link_options& options, link_mode mode);

/// Adds --in-process, --no-cache, and the options of add_common_link_flags.
void add_link_flags(CLI::App& verb, link_flags& flags);

/// Adds --offline, after add_link_flags: not of a verb that fills the cache.
void add_link_offline(CLI::App& verb, link_flags& flags);

/// Adds --allow-unconfined, --link-timeout, --require-inlined, the options of add_input_flags,
/// those of nvJitLink and those of sources: those also of a verb that itself decides where it
/// links.
void add_common_link_flags(CLI::App& verb, link_flags& flags);

/// Adds --mode of verbs that link in several modes: ptx, lto, both or sass.
void add_mode(CLI::App& verb, std::string& mode);

/// The modes that the text of --mode names; "both": ptx and lto.
std::vector<link_mode> parse_modes(std::string const& text);

/// Adds --allow-calls and --whole-archive.
void add_input_flags(CLI::App& verb, bool& allow_calls, bool& whole_archive);

/// Adds --ftz, --prec-div, --prec-sqrt, --fma and --use-fast-math, which set `options`.
void add_float_flags(CLI::App& verb, link_options& options);

/// Adds --kernel, which can be repeated.
void add_kernels(CLI::App& verb, std::vector<std::string>& kernels, std::string const& help);

}  // namespace fatlink::cli
