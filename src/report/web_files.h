// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The files of web/, compiled in.
#pragma once

#include <span>
#include <string_view>

namespace vlearn {

struct WebFile {
  std::string_view name;  ///< its path in web/
  std::string_view text;
};

[[nodiscard]] std::span<const WebFile> web_files() noexcept;

}  // namespace vlearn
