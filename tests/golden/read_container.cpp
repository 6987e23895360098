// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// read_container FILE: prints a line for each array of a file that Python wrote, for
// test_safetensors.py: name, type, shape, commit or not, and the sum of its F64 values.
#include <cstdio>
#include <numeric>
#include <string>

#include "vlearn/core/container.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const vlearn::Container container = vlearn::Container::open(argv[1]);
    for (const vlearn::ArrayInfo& array : container.header().arrays()) {
      std::string shape;
      for (const std::uint64_t size : array.shape) shape += std::to_string(size) + " ";
      double sum = 0.0;
      if (array.type == vlearn::ElementType::f64) {
        const auto values = container.view<double>(array.name);
        sum = std::accumulate(values.begin(), values.end(), 0.0);
      }
      std::printf("%s %s [ %s] %s %.17g\n", array.name.c_str(),
                  std::string(vlearn::name_of(array.type)).c_str(), shape.c_str(),
                  container.header().committed() ? "committed" : "open", sum);
    }
  } catch (const vlearn::Error& error) {
    std::printf("%s\n", error.what());
    return 3;
  }
  return 0;
}
