// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the process gets its memory, and what it does if there is none: see lack_of_memory.h.
#include <cstddef>
#include <cstdlib>
#include <new>

#include "lack_of_memory.h"

namespace {

/// So much is data; less may be anything.
constexpr std::size_t kMuch = std::size_t{1} << 20U;

}  // namespace

void* operator new(std::size_t size) {
  void* const found = std::malloc(size == 0 ? 1 : size);
  if (found != nullptr) return found;
  if (size < kMuch) vlearn::app::end_for_lack_of_memory();
  throw std::bad_alloc();
}

void operator delete(void* place) noexcept { std::free(place); }
void operator delete(void* place, std::size_t /*size*/) noexcept { std::free(place); }
