// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "derive-inl.h"

namespace vlearn {

template std::vector<Derived> derive<Interval>(const DeriveTask& task);

}  // namespace vlearn
