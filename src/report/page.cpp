// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/report/page.h"

#include "vlearn/core/version.h"

namespace vlearn {

std::string report_page(std::span<const RunView> runs) {
  std::string page =
      "<!doctype html><meta charset=\"utf-8\"><meta name=\"generator\" content=\"vlearn " +
      std::string(build_info().version) + "\"><pre>";
  for (const RunView& run : runs) page += run.game.hash + "\n";
  return page + "</pre>\n";
}

}  // namespace vlearn
