// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// write_container FILE: one array of each type, for test_safetensors.py to read with Python.
#include <cstdint>
#include <numeric>
#include <vector>

#include "vlearn/core/container.h"

namespace {

template <class T>
std::vector<T> counted(std::size_t count) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), T{1});
  return values;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto f64 = counted<double>(24);
  const auto f32 = counted<float>(6);
  const auto i64 = counted<std::int64_t>(5);
  const auto u64 = counted<std::uint64_t>(5);
  const auto i32 = counted<std::int32_t>(3);
  const auto u32 = counted<std::uint32_t>(3);
  const auto i16 = counted<std::int16_t>(7);
  const auto u16 = counted<std::uint16_t>(7);
  const auto i8 = counted<std::int8_t>(3);
  const auto u8 = counted<std::uint8_t>(3);
  const std::vector<double> empty;
  const std::vector<double> one = {0.25};
  vlearn::ContainerWriter("vlearn.test/1")
      .metadata("note", "caf\xC3\xA9 \"quoted\"")
      .add("u8", {3}, u8)
      .add("i8", {3}, i8)
      .add("u16", {7}, u16)
      .add("i16", {7}, i16)
      .add("f64", {2, 3, 4}, f64)
      .add("f32", {6, 1}, f32)
      .add("i64", {5}, i64)
      .add("u64", {5}, u64)
      .add("i32", {3}, i32)
      .add("u32", {3}, u32)
      .add("empty", {0, 3}, empty)
      .add("nom \xC3\xA9trange/[0]", {}, one)
      .write(argv[1]);
  return 0;
}
