// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// JSON: what parses can be walked and written, and what is written parses to the same text again.
#include <string_view>

#include "fuzz_target.h"
#include "vlearn/core/json.h"

namespace {

using namespace vlearn;

void copy(const JsonValue& value, JsonWriter& json) {
  static_cast<void>(value.place());
  switch (value.kind()) {
    case JsonKind::null: json.value(false); break;
    case JsonKind::boolean: json.value(value.boolean()); break;
    case JsonKind::integer:
    case JsonKind::number: json.value(value.number()); break;
    case JsonKind::string: json.value(value.string()); break;
    case JsonKind::array:
      json.begin_array();
      for (const JsonValue item : value.items()) copy(item, json);
      json.end_array();
      break;
    case JsonKind::object:
      json.begin_object();
      for (const JsonValue item : value.items()) {
        json.key(item.key());
        copy(item, json);
      }
      json.end_object();
      break;
  }
}

std::string copied(std::string_view text) {
  const JsonDocument document = JsonDocument::parse(text, "input");
  JsonWriter json;
  copy(document.root(), json);
  return json.text();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string once;
  try {
    once = copied({reinterpret_cast<const char*>(data), size});
  } catch (const Error& error) {
    fuzz::promise(error.kind() != ErrorKind::internal, "a bad text is the writer's mistake");
    return 0;
  }
  fuzz::promise(copied(once) == once, "a written text reads back as itself");
  return 0;
}
