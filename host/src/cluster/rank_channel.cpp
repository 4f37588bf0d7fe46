// SPDX-License-Identifier: Apache-2.0
#include "fatlink/rank_channel.hpp"

namespace fatlink {

rank_channel::~rank_channel() = default;

}  // namespace fatlink
