#include <gtest/gtest.h>

#include "run/openfoam/openfoam.h"

namespace forebay::openfoam {
namespace {

constexpr std::string_view velocity = R"(/*--------------------------------*- C++ -*----------------------------------*\
| a banner with FoamFile { class no; } in it                                  |
\*---------------------------------------------------------------------------*/
FoamFile
{
    version     2.0;
    format      binary;
    class       volVectorField;
    arch        "LSB;label=32;scalar=64";
    location    "0.02";
    object      U;
}
// * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * //

dimensions      [0 1 -1 0 0 0 0];
)";

TEST(HeaderTest, AHeaderTellsWhatTheFileHoldsAndWhereItBegins) {
  const auto header = parse_header(velocity);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->format, "binary");
  EXPECT_EQ(header->class_name, "volVectorField");
  EXPECT_EQ(header->location, "0.02");
  EXPECT_EQ(header->object, "U");
  EXPECT_EQ(header->label_bytes, 4);
  EXPECT_TRUE(velocity.substr(header->end).starts_with("dimensions")) << velocity.substr(header->end);
}

TEST(HeaderTest, NothingBehindTheHeaderIsTakenWhateverItIs) {
  const std::string bare = "FoamFile{format binary;class labelList;arch \"LSB;label=64;scalar=64\";}";
  const auto header = parse_header(bare + "// data\n");
  ASSERT_TRUE(header);
  EXPECT_EQ(header->end, bare.size());
  EXPECT_EQ(header->label_bytes, 8);
}

TEST(HeaderTest, AFileThatIsNoneOfOpenFoamsOrCutOffHasNoHeader) {
  for (const char* text : {"", "\x1f\x8b\x08", "time p\n0 1\n", "FoamFile", "FoamFile { class",
                           "FoamFile { version 2.0; }", "/* FoamFile { class a; }", "NotFoamFile { class a; }"})
    EXPECT_FALSE(parse_header(text)) << text;
  const std::size_t close = velocity.find("\n}\n");
  for (std::size_t length = 0; length < close; ++length)
    EXPECT_FALSE(parse_header(velocity.substr(0, length))) << length;
}

TEST(CollatedFormatTest, TheFrameIsByteForByteThatOfOpenFoam) {
  // The first bytes of processors4/0.02/U as OpenFOAM v1912 wrote it, but for its location (there an absolute path).
  EXPECT_EQ(collated_header("U", "0.02", 4) + block_prefix(0, 4350),
            R"(/*--------------------------------*- C++ -*----------------------------------*\
| =========                 |                                                 |
| \\      /  F ield         | OpenFOAM: The Open Source CFD Toolbox           |
|  \\    /   O peration     | Version:                                        |
|   \\  /    A nd           | Website:  www.openfoam.com                      |
|    \\/     M anipulation  |                                                 |
\*---------------------------------------------------------------------------*/
FoamFile
{
    version     2.0;
    format      binary;
    class       decomposedBlockData;
    blocks      4;
    location    "0.02";
    object      U;
}
// * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * //


// Processor0

4350
()");
  EXPECT_EQ(block_suffix() + block_prefix(1, 3), ")\n\n// Processor1\n\n3\n(");
}

TEST(CollatedFormatTest, EmptyListsAreWrittenAsTheirClassAndFormatAsk) {
  const auto empty = [](std::string class_name, std::string format, int label_bytes = 4) {
    return empty_block({std::move(format), std::move(class_name), "", "", label_bytes, 0});
  };
  EXPECT_EQ(empty("vectorField", "binary"), "\n0\n");
  EXPECT_EQ(empty("symmTensorField", "ascii"), "0()");
  EXPECT_EQ(empty("labelFieldField", "ascii"), "0()");
  EXPECT_EQ(empty("Cloud<parcel>", "ascii"), "0\n(\n)\n");
  EXPECT_EQ(empty("labelFieldCompactField", "binary", 8), std::string("\n1\n(\0\0\0\0\0\0\0\0)\n0\n", 16));
  for (const char* field : {"volScalarField", "surfaceScalarField", "dictionary", "labelList", "faceList"})
    EXPECT_EQ(empty(field, "binary"), std::nullopt) << field;
}

TEST(CollatedFormatTest, FieldsOnAMeshAreToldFromListsByTheirClass) {
  for (const char* field : {"volScalarField", "surfaceVectorField", "pointSphericalTensorField", "volTensorField",
                            "volSymmTensorField::Internal"})
    EXPECT_TRUE(is_mesh_field_class(field)) << field;
  for (const char* other : {"scalarField", "vectorField", "pointField", "volScalarFieldField", "faceCompactList",
                            "Cloud<parcel>", "volumeTable", "refinementHistory", ""})
    EXPECT_FALSE(is_mesh_field_class(other)) << other;
}

}  // namespace
}  // namespace forebay::openfoam
