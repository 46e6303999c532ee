// HDF5 1.10 loses memory of its own, and its way out ("infinite loop closing library"), when it gives up on a damaged
// file. LeakSanitizer asks here what is not ours.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libhdf5\n";
}
