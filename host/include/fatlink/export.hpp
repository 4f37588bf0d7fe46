// SPDX-License-Identifier: Apache-2.0
// What libfatlink.so exports: what a public header declares in `namespace FATLINK_API fatlink`, and
// nothing else; all is compiled with hidden visibility. tests/package/test_exports.py checks it.
#pragma once

/// Exported from libfatlink.so.
#define FATLINK_API [[gnu::visibility("default")]]
/// Declared in a public header, but not exported.
#define FATLINK_PRIVATE [[gnu::visibility("hidden")]]
