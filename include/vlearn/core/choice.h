// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Enumerators in options. C++ lets a caller cast any number to an enumeration; code that looks up a
// name, or chooses by it, must not see one that is none of its enumerators.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "vlearn/core/error.h"

namespace vlearn {

/// Throws Error (usage) unless `choice` is one of the enumerators 0 to count - 1.
template <class Enum>
void check_choice(std::string_view field, Enum choice, std::size_t count) {
  const auto number = static_cast<std::size_t>(choice);
  if (number < count) return;
  throw Error(ErrorKind::usage, std::string(field),
              "is " + std::to_string(number) + ", which is no enumerator",
              "want one of the " + std::to_string(count) + " that its type has");
}

/// The same for an enumeration whose names are listed in its order.
template <class Enum, std::size_t kCount>
void check_choice(std::string_view field,
                  Enum choice,
                  const std::array<std::string_view, kCount>& /*names*/) {
  check_choice(field, choice, kCount);
}

}  // namespace vlearn
