// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes example pages into a folder, for the browser tests and for looking at.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/example_views.h"
#include "vlearn/report/page.h"

int main(int argc, char** argv) {
  using namespace vlearn;
  using namespace vlearn::testing;
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const std::vector<RunView>& runs) {
    std::ofstream(folder / (name + ".html"), std::ios::binary) << report_page(runs);
  };
  write("harbour", {harbour_view()});
  write("interval", {interval_view()});
  write("grid", {grid_view()});
  write("smallest", {smallest_view()});
  write("begun", {begun_view()});
  write("refuted", {refuted_view()});
  write("sampled", {sampled_view()});
  write("hostile", {hostile_view()});
  write("groups", group_views(3, 5, 120));
  write("many", group_views(4, 5, 2000));
  return 0;
}
