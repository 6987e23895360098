// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Seed files: what is read has a start that executions know, and reads back from what is written.
#include <algorithm>
#include <string>
#include <string_view>

#include "fuzz_target.h"
#include "vlearn/core/error.h"
#include "vlearn/policy/execute.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vlearn;
  SeedFile file;
  try {
    file = parse_seed({reinterpret_cast<const char*>(data), size}, "input");
  } catch (const Error& error) {
    fuzz::promise(error.kind() == ErrorKind::input, "a bad file is its writer's mistake");
    fuzz::promise(error.place() == "input", "an error names the file");
    return 0;
  }
  std::string_view number = file.start;
  constexpr std::string_view kAnew = "anew ";
  if (number.starts_with(kAnew) && number.size() > kAnew.size()) number.remove_prefix(kAnew.size());
  const bool is_number =
      std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  const bool is_word = file.start == "uniform" || file.start == "anew" || file.start == "table";
  fuzz::promise(is_number || is_word, "a start is a number or a known word");
  fuzz::promise(parse_seed(seed_text(file), "written") == file,
                "a written seed reads back as itself");
  return 0;
}
