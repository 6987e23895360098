// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a fuzz target over the files of a corpus, as a test: replay FOLDER.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <vector>

#include "fuzz_target.h"
#include "vlearn/core/file.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    try {
      const vlearn::FileBytes bytes = vlearn::FileBytes::read(file, 1U << 24U);
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.bytes().data()),
                             bytes.bytes().size());
    } catch (const std::exception& error) {
      std::printf("%s: %s\n", file.c_str(), error.what());
      return 1;
    }
  }
  std::printf("%zu inputs\n", files.size());
  return files.empty() ? 1 : 0;
}
