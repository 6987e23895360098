// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What all pictures begin with.
#pragma once

#include <string_view>

#include "html.h"
#include "svg.h"

namespace vlearn {

/// Opens <svg> with its name; close() ends it.
void open_picture(Html& html, const PictureName& name, double width, double height);

void picture_text(Html& html, double x, double y, std::string_view text, std::string_view style);

}  // namespace vlearn
