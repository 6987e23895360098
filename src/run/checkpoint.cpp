// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/checkpoint.h"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "vlearn/core/error.h"

namespace vlearn {
namespace {

constexpr const char* kFormat = "vlearn.checkpoint/1";
constexpr const char* kLast = "checkpoint.safetensors";
constexpr std::array<const char*, 2> kTwo = {"checkpoint-a.safetensors",
                                             "checkpoint-b.safetensors"};
constexpr std::array<const char*, 3> kAll = {kLast, kTwo[0], kTwo[1]};

/// The episodes of a checkpoint that is whole and of this run. Throws Error (input).
std::uint64_t episodes_of(const std::filesystem::path& path, const std::string& config_hash) {
  const Container container = Container::open(path, {.mapped = true});
  const ContainerHeader& header = container.header();
  const auto refuse = [&](const char* problem) {
    return Error(ErrorKind::input, path.string(), problem);
  };
  if (!header.committed() || header.metadata("format") != kFormat) {
    throw refuse("is no checkpoint that this version reads");
  }
  if (header.metadata("config_hash") != config_hash) throw refuse("is of another run");
  const auto counts = container.view<std::uint64_t>("run.episodes");
  if (counts.empty()) throw refuse("says nothing of its episodes");
  return counts.front();
}

bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

FileSizes sizes_in(ContainerArrays& arrays) {
  const auto metrics = arrays.take<std::uint64_t>("files.metrics");
  if (metrics.size() != 2) throw arrays.header().error("files.metrics", "wants two sizes");
  return {metrics[0], metrics[1], arrays.take<std::uint64_t>("files.policies")};
}

}  // namespace

Checkpoints::Checkpoints(std::filesystem::path folder, std::string config_hash)
    : folder_(std::move(folder)), config_hash_(std::move(config_hash)) {}

void Checkpoints::write(const char* name, const Trainer& trainer, const FileSizes& sizes) const {
  ContainerWriter writer(kFormat);
  writer.metadata("config_hash", config_hash_);
  trainer.save(writer);
  writer.own("files.metrics", std::vector<std::uint64_t>{sizes.metrics, sizes.table});
  writer.own("files.policies", sizes.policies);
  writer.write(folder_ / name);
}

void Checkpoints::save(const Trainer& trainer, const FileSizes& sizes) {
  write(kTwo[next_], trainer, sizes);
  next_ = 1 - next_;
}

void Checkpoints::save_last(const Trainer& trainer, const FileSizes& sizes) {
  write(kLast, trainer, sizes);
}

void Checkpoints::remove_others() {
  std::error_code ignored;
  for (const char* name : kTwo) std::filesystem::remove(folder_ / name, ignored);
}

void Checkpoints::remove_all() {
  std::error_code ignored;
  for (const char* name : kAll) std::filesystem::remove(folder_ / name, ignored);
}

std::vector<Checkpoints::Found> Checkpoints::newest_first(const Tell& tell) const {
  std::vector<Found> found;
  for (const char* name : kAll) {
    if (!is_there(folder_ / name)) continue;
    try {
      found.push_back({name, episodes_of(folder_ / name, config_hash_)});
    } catch (const Error& error) {
      tell(error.what());
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.episodes > b.episodes; });
  return found;
}

bool Checkpoints::load(Trainer& trainer, const OpenFiles& open_files, const Tell& tell) {
  for (const Found& found : newest_first(tell)) {
    try {
      ContainerArrays arrays =
          ContainerArrays::read(folder_ / found.name, [](const ContainerHeader&) {});
      open_files(sizes_in(arrays));
      trainer.load(arrays);
      next_ = found.name == kTwo[0] ? 1 : 0;
      return true;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::input) throw;
      tell(error.what());
    }
  }
  if (std::none_of(kAll.begin(), kAll.end(),
                   [&](const char* name) { return is_there(folder_ / name); })) {
    return false;
  }
  throw Error(ErrorKind::input, folder_.string(), "has no checkpoint that can be used",
              "remove its checkpoints, and the run begins again from its start");
}

}  // namespace vlearn
