# Writes a C++ source with the texts of the catalogue's files, sorted by name.
#   cmake -D FOLDER=... -D OUTPUT=... -P embed_catalogue.cmake
file(GLOB files "${FOLDER}/*.json")
list(TRANSFORM files REPLACE "\\.json$" "")  # or a.json would come after a-b.json
list(SORT files)
set(entries "")
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME)
  file(READ "${file}.json" text)
  # One literal per line of the file: no compiler limits their number, some limit their length.
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
  string(APPEND entries "    {\"${name}\",\n     \"${text}\"},\n")
endforeach()
list(LENGTH files count)
file(
  WRITE "${OUTPUT}.new"
  "// Made from catalog/ by cmake/embed_catalogue.cmake.
#include <array>

#include \"vlearn/game/game_io.h\"

namespace vlearn {
namespace {

constexpr std::array<CatalogueEntry, ${count}> kEntries = {{
${entries}}};

}  // namespace

std::span<const CatalogueEntry> catalogue() noexcept { return kEntries; }

}  // namespace vlearn
")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}" ONLY_IF_DIFFERENT)
