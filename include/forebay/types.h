/* The types of values of a field or of an array, and how structs grow. */
#ifndef FOREBAY_TYPES_H
#define FOREBAY_TYPES_H

typedef enum forebay_type {
  FOREBAY_BYTES = 0,
  FOREBAY_FLOAT32 = 1,
  FOREBAY_FLOAT64 = 2,
  FOREBAY_INT8 = 3,
  FOREBAY_INT16 = 4,
  FOREBAY_INT32 = 5,
  FOREBAY_INT64 = 6,
  FOREBAY_UINT8 = 7,
  FOREBAY_UINT16 = 8,
  FOREBAY_UINT32 = 9,
  FOREBAY_UINT64 = 10,
  FOREBAY_COMPLEX64 = 11, /* two FLOAT32 each */
  FOREBAY_COMPLEX128 = 12,
  FOREBAY_FLOAT16 = 13,
  FOREBAY_BFLOAT16 = 14,
  FOREBAY_BOOL = 15, /* of one byte */
  FOREBAY_TYPE_LARGEST = 0x7fffffff
} forebay_type;
/* Items of so many bytes (1 to 65535) that mean something to the program alone. */
#define FOREBAY_OPAQUE(bytes) ((forebay_type)((bytes) << 8))

/* Structs of the interface begin with their size and only grow at their end, within a series of versions
 * (forebay/version.h) by so many bytes at most. A size beyond that was never set. */
#define FOREBAY_MOST_GROWTH 256

#endif
