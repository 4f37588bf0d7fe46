// SPDX-License-Identifier: Apache-2.0
// Marks what libfatlink.so exports. It exports only what a public header declares in `namespace
// FATLINK_API fatlink`; everything else has hidden visibility. tests/package/test_exports.py checks
// this.
#pragma once

/// Exported from libfatlink.so.
#define FATLINK_API [[gnu::visibility("default")]]
/// Declared in a public header, but not exported.
#define FATLINK_PRIVATE [[gnu::visibility("hidden")]]
