// SPDX-License-Identifier: Apache-2.0
// What the opaque types of the C interface hold: an object of the C++ interface, and texts of it
// that end with NUL. Threads: as the objects.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "fatlink/cache.hpp"
#include "fatlink/compiler.hpp"
#include "fatlink/device.hpp"
#include "fatlink/fatlink.h"
#include "fatlink/live_module.hpp"
#include "fatlink/live_plan.hpp"
#include "fatlink/prepare.hpp"

struct fatlink_cache {
  std::shared_ptr<fatlink::link_cache> cache;
};

struct fatlink_input {
  explicit fatlink_input(fatlink::input file) : contents(std::move(file)) {}

  fatlink::input contents;
  mutable std::mutex hashing = {};
  mutable std::string digest = {};  ///< in hexadecimal digits; empty until it is asked for
};

struct fatlink_compiler {
  fatlink::compiler compiler;
};

struct fatlink_linker {
  fatlink::linker linker;
};

struct fatlink_image {
  std::shared_ptr<fatlink::linked_image const> image;
  std::string target;
};

struct fatlink_device {
  std::shared_ptr<fatlink::device> device;
  std::string target;
};

struct fatlink_stream {
  fatlink::stream stream;
};

struct fatlink_buffer {
  fatlink::device_buffer<std::byte> bytes;
};

struct fatlink_module {
  fatlink::loaded_module module;
};

struct fatlink_kernel {
  fatlink::untyped_kernel kernel;
};

struct fatlink_plan {
  fatlink::prepared_plan plan;
  std::vector<std::string> type_names;  ///< of its arguments
  fatlink_image image;
  std::shared_ptr<fatlink::device> device;
  std::int32_t ordinal;  ///< of the GPU; -1: the reference device
};

struct fatlink_call {
  std::variant<fatlink::bound_plan, fatlink::live_bound_plan> call;
};

struct fatlink_live_module {
  fatlink::live_module module;
};

struct fatlink_live_kernel {
  fatlink::untyped_live_kernel kernel;
};

struct fatlink_live_plan {
  /// An argument that callers pass, with texts of it.
  struct argument {
    std::string name;
    std::string type_name;
  };

  fatlink::live_plan plan;
  mutable std::mutex mutex = {};
  mutable std::vector<argument> arguments = {};  ///< of every version; empty until asked for
};
