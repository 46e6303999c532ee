/* Which forebay this is: the macros are of the headers that a program was compiled with, forebay_version() of the
 * library that it runs with. Until 1.0.0 two versions fit each other where major and minor number are equal. */
#ifndef FOREBAY_VERSION_H
#define FOREBAY_VERSION_H

#define FOREBAY_VERSION_MAJOR 0
#define FOREBAY_VERSION_MINOR 1
#define FOREBAY_VERSION_PATCH 0
#define FOREBAY_VERSION_TEXT "0.1.0"
/* To compare: 0.1.0 is 100, 1.2.3 is 10203. */
#define FOREBAY_VERSION_NUMBER (FOREBAY_VERSION_MAJOR * 10000 + FOREBAY_VERSION_MINOR * 100 + FOREBAY_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library, for example "0.1.0". */
const char* forebay_version(void);

#ifdef __cplusplus
}
#endif

#endif
