// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/checkpoint.h"

#include <fmt/format.h>

#include <array>
#include <system_error>
#include <utility>

#include "vlearn/core/error.h"

namespace vlearn {
namespace {

constexpr const char* kFormat = "vlearn.checkpoint/2";
constexpr const char* kNewest = "checkpoint.safetensors";
constexpr const char* kOlder = "checkpoint-old.safetensors";

/// What the history since its last segment may add to the state of a run that has just begun: its
/// buffers are some 64 MiB.
constexpr std::uint64_t kMostHistory = std::uint64_t{1} << 30U;

bool is_there(const std::filesystem::path& path) {
  return std::filesystem::exists(std::filesystem::symlink_status(path));
}

void discard(const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

/// A file that no run can have written is not a lack of memory: it is bad.
void check_size(const std::filesystem::path& path, std::uint64_t most_bytes) {
  std::error_code failure;  // what cannot be looked at is refused when it is read
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  if (failure || size <= most_bytes) return;
  throw Error(ErrorKind::input, path.string(),
              fmt::format("has {} bytes, the limit is {}", size, most_bytes));
}

FileSizes sizes_in(ContainerArrays& arrays) {
  const auto metrics = arrays.take<std::uint64_t>("files.metrics");
  if (metrics.size() != 2) throw arrays.header().error("files.metrics", "wants two sizes");
  return {metrics[0], metrics[1], arrays.take<std::uint64_t>("files.policies")};
}

}  // namespace

void Checkpoints::save(const RunState& state, const FileSizes& sizes) const {
  ContainerWriter writer(kFormat);
  writer.metadata("config_hash", config_hash_);
  state.save(writer);
  writer.own("files.metrics", std::vector<std::uint64_t>{sizes.metrics, sizes.table});
  writer.own("files.policies", sizes.policies);
  if (is_there(folder_ / kNewest)) {
    std::error_code failure;
    std::filesystem::rename(folder_ / kNewest, folder_ / kOlder, failure);
    if (failure) {
      throw system_error(ErrorKind::resource, folder_ / kNewest, "cannot be kept as the older one",
                         failure.value());
    }
  }
  writer.write(folder_ / kNewest);
}

void Checkpoints::keep_newest() const { discard(folder_ / kOlder); }

void Checkpoints::remove_all() const {
  discard(folder_ / kNewest);
  discard(folder_ / kOlder);
}

std::optional<FileSizes> Checkpoints::load(const RunState& state,
                                           const CheckFiles& check_files,
                                           const Tell& tell) const {
  ContainerWriter fresh(kFormat);
  state.save(fresh);
  const std::uint64_t most_bytes = fresh.bytes() + kMostHistory;
  const auto check = [&](const ContainerHeader& header) {
    if (!header.committed() || header.metadata("format") != kFormat) {
      throw Error(ErrorKind::input, header.source(), "is no checkpoint that this version reads");
    }
    if (header.metadata("config_hash") != config_hash_) {
      throw Error(ErrorKind::input, header.source(), "is of another run");
    }
  };
  const bool any = is_there(folder_ / kNewest) || is_there(folder_ / kOlder);
  std::optional<Error> trouble;  // of the system: the checkpoint may be good
  for (const char* name : {kNewest, kOlder}) {
    if (!is_there(folder_ / name)) continue;
    try {
      check_size(folder_ / name, most_bytes);
      ContainerArrays arrays = ContainerArrays::read(folder_ / name, check, most_bytes);
      FileSizes sizes = sizes_in(arrays);
      check_files(sizes);
      state.load(arrays);
      // A bad newest one must not take the place of this one when the next is saved.
      if (name == kOlder) discard(folder_ / kNewest);
      return sizes;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::input && error.kind() != ErrorKind::resource) throw;
      tell(error.what());
      if (error.kind() == ErrorKind::resource) trouble = error;
    }
  }
  if (!any) return std::nullopt;
  if (trouble) throw Error(*trouble);
  throw Error(ErrorKind::input, folder_.string(), "has no checkpoint that can be used",
              "restore its files from a copy, or remove its checkpoints to begin from the start");
}

}  // namespace vlearn
