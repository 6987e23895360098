// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A folder for targets that need files: one for all runs of a process, in memory where there is
// such a place.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace vlearn::fuzz {

class ScratchFolder {
 public:
  ScratchFolder() {
    const std::filesystem::path memory = "/dev/shm";
    const auto parent =
        std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path();
    path_ = parent / ("vlearn-fuzz-" + std::to_string(::getpid()));
    std::filesystem::create_directory(path_);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ScratchFolder(ScratchFolder&&) = delete;
  ScratchFolder& operator=(ScratchFolder&&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// Made when it is first used, and removed when the process ends.
inline const std::filesystem::path& scratch_folder() {
  static const ScratchFolder folder;
  return folder.path();
}

}  // namespace vlearn::fuzz
