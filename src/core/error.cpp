// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/error.h"

#include <utility>

namespace vlearn {
namespace {

std::string sentence(const std::string& place, const std::string& problem, const std::string& fix) {
  std::string text = place;
  if (!text.empty()) text += ": ";
  text += problem;
  if (!fix.empty()) text += "; " + fix;
  return text;
}

}  // namespace

Error::Error(ErrorKind kind, std::string place, std::string problem, std::string fix)
    : std::runtime_error(sentence(place, problem, fix)),
      kind_(kind),
      place_(std::move(place)),
      problem_(std::move(problem)),
      fix_(std::move(fix)) {}

}  // namespace vlearn
