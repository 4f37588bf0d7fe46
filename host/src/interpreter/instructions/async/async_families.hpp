// SPDX-License-Identifier: Apache-2.0
// The forms of cp: cp.async, its groups and its arrival at an mbarrier; bulk copies. And the
// asynchronous forms of st and red.
#pragma once

#include "interpreter/decode/decoder.hpp"

namespace fatlink::interpreter {

/// cp.async.mbarrier.arrive; "async" and "mbarrier" are taken.
void decode_copy_arrival(decoding& d);
/// cp.async.bulk and cp.reduce.async.bulk; "async" and "bulk" are taken.
void decode_bulk_copy(decoding& d);
void decode_bulk_reduction(decoding& d);
/// st.async and red.async; "async" is taken.
void decode_async_store(decoding& d);
void decode_async_reduction(decoding& d);

/// Emits a check that the grid has clusters: without them an H100 reports an illegal instruction
/// where shared memory of a cluster is written asynchronously.
void emit_cluster_check(decoding& d);

}  // namespace fatlink::interpreter
