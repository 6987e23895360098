// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The array container: what opens lies within the file, without overlaps, and can be viewed.
#include "fuzz_target.h"
#include "vlearn/core/container.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vlearn;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  try {
    const Container container = Container::parse(FileBytes::copy(bytes), "input");
    std::uint64_t end = 0;
    for (const ArrayInfo& array : container.arrays()) {
      fuzz::promise(array.offset >= end && array.offset + array.bytes <= size, "arrays tile");
      end = array.offset + array.bytes;
      fuzz::promise(&container.at(array.name) == &array, "names are unique");
      if (array.type == ElementType::f64) static_cast<void>(container.view<double>(array.name));
      if (array.type != ElementType::u8) continue;
      for (const std::uint8_t byte : container.view<std::uint8_t>(array.name)) {
        static_cast<void>(byte);
      }
    }
  } catch (const Error& error) {
    fuzz::promise(error.kind() != ErrorKind::internal, "a bad file is its writer's mistake");
  }
  return 0;
}
