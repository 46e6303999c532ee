// Proves: a program of another MPI than the library was built with is told so, before any call that would end it.
#include <gtest/gtest.h>

#include <cstring>

#include "arrays/blocks/c_handles.h"

namespace {
#ifdef OPEN_MPI
const char* const other = "MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7 12:34:45 CDT 2022";
const char* const relative = "Intel(R) MPI Library 2021.11 for Linux* OS";
#else
const char* const other = "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4";
const char* const relative = "Open MPI v5.0.1, package: Debian OpenMPI, ident: 5.0.1";
#endif
const char* version = nullptr;
}  // namespace

// The program's MPI, which comes before that of the library.
extern "C" int MPI_Get_library_version(char* text, int* length) {
  std::strcpy(text, version);
  *length = static_cast<int>(std::strlen(text));
  return MPI_SUCCESS;
}

namespace forebay::blocks {
namespace {

// MPICH's text has the words of its configuration, which are more bytes than Open MPI ever has.
TEST(Family, IsToldAlsoByAnMpiThatSaysMoreThanOneOfTheLibraryCan) {
  const std::string wrong = std::string(other) + "\nMPICH configure: " + std::string(8000, 'x');
  version = wrong.c_str();
  const Status told = check_family();
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().what.find("xxx"), std::string::npos) << told.error().what;
}

TEST(Family, OfTheProgramIsThatOfTheLibraryOrIsTold) {
  for (const char* wrong : {other, relative}) {
    version = wrong;
    const std::string name(wrong, std::strcspn(wrong, ",\t\n"));
    forebay_team* team = nullptr;
    EXPECT_EQ(forebay_team_create(MPI_COMM_WORLD, nullptr, &team), FOREBAY_E_INVALID);
    EXPECT_NE(std::strstr(forebay_error_get_text(), name.c_str()), nullptr) << forebay_error_get_text();
    EXPECT_NE(std::strstr(forebay_error_get_text(), "than libforebay_arrays was built with"), nullptr);
    EXPECT_EQ(forebay_team_create_f(0, nullptr, &team), FOREBAY_E_INVALID);
    EXPECT_EQ(team, nullptr);
  }
#ifdef OPEN_MPI
  version = "Open MPI v5.0.1, package: another one, ident: 5.0.1";
  EXPECT_TRUE(check_family());
#endif
}

}  // namespace
}  // namespace forebay::blocks
