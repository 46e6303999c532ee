// Cut files: files of an output time that were not written to their end, as a killed rank or a full disk leaves them.
#pragma once

#include <string>

namespace forebay::openfoam {

// True when the file at `path` is known to be cut, so that OpenFOAM cannot read it:
//   - it is empty, or cannot be read;
//   - it is compressed (".gz"), and its gzip stream does not end (RFC 1952);
//   - it has a FoamFile header (its content, where it is compressed), and does not end with OpenFOAM's closing line;
//   - it is collated (class decomposedBlockData), and does not have `blocks` whole blocks (0: it is no file of a group,
//     and at least one block must be whole).
// Other files tell nothing by their content: they are not cut unless they are empty. Reads the first and the last bytes
// of a file, of a compressed one all, and of a collated one what is between its blocks. Follows links.
bool is_cut(const std::string& path, int blocks = 0);

}  // namespace forebay::openfoam
