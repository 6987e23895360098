// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Certificates: what is read can be written, and reads back as itself.
#include <string>
#include <string_view>

#include "fuzz_target.h"
#include "vlearn/core/certificate.h"
#include "vlearn/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vlearn;
  std::string once;
  try {
    once = to_json(certificate_from_json({reinterpret_cast<const char*>(data), size}, "input"));
  } catch (const Error& error) {
    fuzz::promise(error.kind() != ErrorKind::internal, "a bad text is the writer's mistake");
    return 0;
  }
  fuzz::promise(to_json(certificate_from_json(once, "input")) == once,
                "a written certificate reads back as itself");
  return 0;
}
