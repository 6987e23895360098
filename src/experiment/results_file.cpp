// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/experiment/results_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vlearn/core/error.h"

namespace vlearn {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{64} << 20U;

}  // namespace

ResultsFile::ResultsFile(const std::filesystem::path& folder, std::string header, const Take& take)
    : file_(folder / "results.jsonl"), header_(std::move(header) + "\n") {
  make_folders(folder);
  lock_.emplace(folder);
  remove_temporary_files(folder);
  std::uint64_t whole = 0;
  if (std::filesystem::exists(file_)) {
    const FileBytes bytes = FileBytes::read(file_, kMaxBytes);
    whole = read(bytes.text(), take);
    append_.emplace(file_, whole);
  } else {
    append_.emplace(file_);
    sync_folder(folder);
  }
  if (whole == 0) {
    append_->append(header_);
    append_->sync();
  }
}

std::uint64_t ResultsFile::read(std::string_view text, const Take& take) const {
  std::uint64_t whole = 0;
  for (std::size_t number = 1; whole < text.size(); ++number) {
    const std::size_t end = text.find('\n', whole);
    // Half a line. Of the first one only what we could have written: a file of somebody else stays.
    if (end == std::string_view::npos && (number > 1 || header_.starts_with(text))) break;
    const std::string_view line = text.substr(whole, std::min(end, text.size()) - whole);
    const std::string source = fmt::format("{}:{}", file_.string(), number);
    if (number > 1) {
      take(line, source);
    } else if (std::string_view(header_).substr(0, header_.size() - 1) != line) {
      throw Error(ErrorKind::usage, source, "has results of other settings",
                  "go on with the settings of its first line and the version that wrote it, "
                  "choose another folder with --out, or remove the file");
    }
    whole = end + 1;
  }
  return whole;
}

void ResultsFile::add(std::string_view line) {
  append_->append(std::string(line) + "\n");
  append_->sync();
}

void ResultsFile::rewrite(std::span<const std::string> lines) {
  append_.reset();
  std::string text = header_;
  for (const std::string& line : lines) text += line + "\n";
  write_file(file_, text);
}

}  // namespace vlearn
