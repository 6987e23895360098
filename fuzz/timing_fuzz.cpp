// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// timing.jsonl: seconds are finite and not negative, and half a line at the end changes nothing.
#include <cmath>
#include <string>
#include <string_view>

#include "fuzz_target.h"
#include "run_files.h"
#include "vlearn/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vlearn;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const std::optional<double> seconds = parse_seconds(text, "input");
    fuzz::promise(!seconds || (std::isfinite(*seconds) && *seconds >= 0.0),
                  "time is finite and does not run backwards");
    const std::string whole = text.substr(0, text.rfind('\n') + 1);
    fuzz::promise(parse_seconds(whole + "{\"episode\":1,\"sec", "input") == seconds,
                  "half a line counts for nothing");
  } catch (const Error& error) {
    fuzz::promise(error.kind() == ErrorKind::input || error.kind() == ErrorKind::resource,
                  "a bad file is its writer's mistake");
    fuzz::promise(error.place().starts_with("input"), "an error names the file");
  }
  return 0;
}
