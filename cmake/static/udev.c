// These functions stand in for libudev, which cannot be linked statically. hwloc asks libudev for the names of disks, and
// forebay never asks hwloc for these. Each function says that there is no udev.
#include <stddef.h>

struct udev;
struct udev_device;

struct udev* udev_new(void) {
  return NULL;
}
struct udev* udev_unref(struct udev* udev) {
  (void)udev;
  return NULL;
}
struct udev_device* udev_device_new_from_subsystem_sysname(struct udev* udev, const char* subsystem, const char* name) {
  (void)udev, (void)subsystem, (void)name;
  return NULL;
}
struct udev_device* udev_device_unref(struct udev_device* device) {
  (void)device;
  return NULL;
}
const char* udev_device_get_property_value(struct udev_device* device, const char* key) {
  (void)device, (void)key;
  return NULL;
}
