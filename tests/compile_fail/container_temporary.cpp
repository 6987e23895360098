// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A writer borrows its arrays until write(): a temporary would be gone.
// expect: deleted
#include <vector>

#include "vlearn/core/container.h"

void collect(vlearn::ContainerWriter& writer, const std::vector<double>& values) {
#ifdef VLEARN_MISUSE
  writer.add("x", {1}, std::vector<double>{0.5});
#endif
  writer.add("x", {values.size()}, values);
}
