// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "derive-inl.h"

namespace vlearn {

std::size_t witness_size(const PolicyLog& log, Target target) {
  if (target != Target::ce) return log.num_actions().size();
  std::size_t size = 0;
  for (const std::uint32_t n : log.num_actions()) size += n;
  return size;
}

template std::vector<Derived> derive<Interval>(const DeriveTask& task);

}  // namespace vlearn
