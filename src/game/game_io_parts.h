// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What the parts of game_io.h owe each other.
#pragma once

#include <string>
#include <string_view>

#include "vlearn/core/container.h"
#include "vlearn/game/game_io.h"

namespace vlearn {

/// An entry of the catalogue; unlike other files it may say a family's name.
[[nodiscard]] LoadedGame parse_catalogue_entry(const CatalogueEntry& entry);

/// title, source, note, names and known of a game that exists, as a text of its own.
[[nodiscard]] GameAbout parse_about(std::string_view text,
                                    const std::string& source,
                                    const Frame& frame);
[[nodiscard]] std::string about_to_json(const GameAbout& about, const Frame& frame);

/// The container as read_game() and write_game() use it.
void check_game_header(const ContainerHeader& header);
[[nodiscard]] LoadedGame game_from_arrays(ContainerArrays arrays);
void write_container_game(const std::filesystem::path& path, const LoadedGame& game);

}  // namespace vlearn
