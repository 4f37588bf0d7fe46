// SPDX-License-Identifier: Apache-2.0
#include "cubin/cubin.hpp"

#include <elf.h>

#include <utility>

#include "cubin/architecture.hpp"
#include "cubin/cubin_error.hpp"
#include "cubin/read_interface.hpp"

namespace fatlink::detail {

cubin read_cubin(bytes_view bytes, cubin_name const& name)
{
  return read_named(name, [&] {
    cubin_file const file(bytes);
    auto const architecture = read_architecture(file);
    return cubin{.target = architecture.target,
                 .has_exact_target = architecture.has_exact_target,
                 .is_relocatable = file.elf().type() == ET_REL,
                 .toolkit = architecture.toolkit,
                 .interface = read_interface(file)};
  });
}

}  // namespace fatlink::detail
