// SPDX-License-Identifier: Apache-2.0
// bool, true and false are words of C++.
#ifndef __bool_true_false_are_defined
#define __bool_true_false_are_defined 1
#endif
