"""The part of `forebay bench arrays` that refines meshes."""
