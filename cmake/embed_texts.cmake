# Writes a C++ source with the texts of files, sorted by name: `FUNCTION` returns them as `TYPE`s, which are
# declared in HEADER and have a name (without SUFFIX) and a text. vlearn_embed of vlearn.cmake calls it:
#   cmake -D FOLDER=... -D FILES=a.json;b.json -D SUFFIX=.json -D HEADER=... -D TYPE=... -D FUNCTION=... -D OUTPUT=...
#         -P embed_texts.cmake
if(SUFFIX)
  string(REPLACE "." "\\." pattern "${SUFFIX}")
  list(TRANSFORM FILES REPLACE "${pattern}$" "")  # or a.json would come after a-b.json
endif()
list(SORT FILES)
set(entries "")
foreach(name IN LISTS FILES)
  file(READ "${FOLDER}/${name}${SUFFIX}" text)
  # One literal per line of the file: no compiler limits their number, some limit their length.
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "?" "\\?" text "${text}")  # "??!" and its like once meant other characters
  string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
  string(APPEND entries "    {\"${name}\",\n     \"${text}\"},\n")
endforeach()
list(LENGTH FILES count)
get_filename_component(folder "${FOLDER}" NAME)
file(
  WRITE "${OUTPUT}.new"
  "// Made from ${folder}/ by cmake/embed_texts.cmake.
#include <array>

#include \"${HEADER}\"

namespace vlearn {
namespace {

constexpr std::array<${TYPE}, ${count}> kEntries = {{
${entries}}};

}  // namespace

std::span<const ${TYPE}> ${FUNCTION}() noexcept { return kEntries; }

}  // namespace vlearn
")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}" ONLY_IF_DIFFERENT)
