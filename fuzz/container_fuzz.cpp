// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The array container: what opens lies within the file, without overlaps, and every byte of it can
// be read.
#include "fuzz_target.h"
#include "vlearn/core/container.h"
#include "vlearn/core/hash.h"

namespace {

using namespace vlearn;

template <class T>
void read(const Container& container, const ArrayInfo& array) {
  try {
    const std::span<const T> values = container.view<T>(array.name);
    fuzz::promise(values.size_bytes() == array.bytes, "a view is the whole array");
    static_cast<void>(xxh3(std::as_bytes(values)));
  } catch (const Error&) {
    fuzz::promise(array.offset % alignof(T) != 0, "what is aligned can be viewed");
  }
}

void read(const Container& container, const ArrayInfo& array) {
  switch (array.type) {
    case ElementType::f64: return read<double>(container, array);
    case ElementType::f32: return read<float>(container, array);
    case ElementType::i64: return read<std::int64_t>(container, array);
    case ElementType::u64: return read<std::uint64_t>(container, array);
    case ElementType::i32: return read<std::int32_t>(container, array);
    case ElementType::u32: return read<std::uint32_t>(container, array);
    case ElementType::i16: return read<std::int16_t>(container, array);
    case ElementType::u16: return read<std::uint16_t>(container, array);
    case ElementType::i8: return read<std::int8_t>(container, array);
    case ElementType::u8:
    case ElementType::boolean: return read<std::uint8_t>(container, array);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  try {
    const Container container = Container::parse(FileBytes::copy(bytes), "input");
    std::uint64_t end = 0;
    for (const ArrayInfo& array : container.header().arrays()) {
      fuzz::promise(array.offset >= end && array.offset + array.bytes <= size, "arrays tile");
      end = array.offset + array.bytes;
      fuzz::promise(container.header().find(array.name) == &array, "names are unique");
      read(container, array);
    }
  } catch (const Error& error) {
    fuzz::promise(error.kind() != ErrorKind::internal, "a bad file is its writer's mistake");
  }
  return 0;
}
