// The same arrays written by others: parallel HDF5 and PnetCDF after a redistribution whose plan is kept, and MPI-IO
// with indexed file types. A program of its own, since parallel and serial HDF5 do not go into one.
#include <fmt/format.h>
#include <hdf5.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "arrays/blocks/bench/arrays_of_ranks.h"
#include "arrays/blocks/bench/timed.h"

namespace {

using namespace forebay::blocks::bench;

int rank_of_all() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int ranks_of_all() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

// The plan that a code keeps from one array to the next: counts for MPI_Alltoallv, and where each received item
// belongs.
class Redistribution {
 public:
  Redistribution(const std::vector<std::uint64_t>& numbers, std::uint64_t items) : ranks_(ranks_of_all()) {
    const auto ranks = static_cast<std::size_t>(ranks_);
    const std::uint64_t size = (items + ranks - 1) / ranks;
    first_ = std::min(size * static_cast<std::uint64_t>(rank_of_all()), items);
    block_.resize(std::min(size, items - first_));
    out_.resize(ranks), in_.resize(ranks), out_at_.resize(ranks), in_at_.resize(ranks);
    for (const std::uint64_t number : numbers) ++out_[(number - 1) / size];
    MPI_Alltoall(out_.data(), 1, MPI_INT, in_.data(), 1, MPI_INT, MPI_COMM_WORLD);
    for (std::size_t i = 1; i < ranks; ++i) {
      out_at_[i] = out_at_[i - 1] + out_[i - 1];
      in_at_[i] = in_at_[i - 1] + in_[i - 1];
    }
    std::vector<int> next = out_at_;
    std::vector<std::uint64_t> sent(numbers.size());
    order_.resize(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto at = static_cast<std::size_t>(next[(numbers[i] - 1) / size]++);
      order_[at] = static_cast<std::uint32_t>(i);
      sent[at] = numbers[i];
    }
    std::vector<std::uint64_t> received(block_.size());
    MPI_Alltoallv(sent.data(), out_.data(), out_at_.data(), MPI_UINT64_T, received.data(), in_.data(), in_at_.data(),
                  MPI_UINT64_T, MPI_COMM_WORLD);
    for (const std::uint64_t number : received) place_.push_back(static_cast<std::uint32_t>(number - 1 - first_));
    packed_.resize(numbers.size());
    received_.resize(block_.size());
  }

  void bring(const std::vector<double>& data) {
    for (std::size_t i = 0; i < order_.size(); ++i) packed_[i] = data[order_[i]];
    MPI_Alltoallv(packed_.data(), out_.data(), out_at_.data(), MPI_DOUBLE, received_.data(), in_.data(), in_at_.data(),
                  MPI_DOUBLE, MPI_COMM_WORLD);
    for (std::size_t i = 0; i < place_.size(); ++i) block_[place_[i]] = received_[i];
  }
  std::uint64_t first() const { return first_; }
  const std::vector<double>& block() const { return block_; }

 private:
  int ranks_;
  std::uint64_t first_ = 0;
  std::vector<int> out_, in_, out_at_, in_at_;
  std::vector<std::uint32_t> order_, place_;
  std::vector<double> packed_, received_, block_;
};

void write_hdf5(const std::string& path, std::uint64_t items, const Redistribution& redistribution, bool sync) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hsize_t extent = items, first = redistribution.first(), count = redistribution.block().size();
  const hid_t space = H5Screate_simple(1, &extent, nullptr), memory = H5Screate_simple(1, &count, nullptr);
  const hid_t dataset = H5Dcreate2(file, "values", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, nullptr, &count, nullptr);
  const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  if (H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, transfer, redistribution.block().data()) < 0) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (sync) H5Fflush(file, H5F_SCOPE_GLOBAL);
  H5Pclose(transfer), H5Dclose(dataset), H5Sclose(memory), H5Sclose(space), H5Fclose(file), H5Pclose(access);
}

void write_pnetcdf(const std::string& path, std::uint64_t items, const Redistribution& redistribution, bool sync) {
  int file = 0, dimension = 0, variable = 0;
  ncmpi_create(MPI_COMM_WORLD, path.c_str(), NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file);
  ncmpi_def_dim(file, "cells", static_cast<MPI_Offset>(items), &dimension);
  ncmpi_def_var(file, "values", NC_DOUBLE, 1, &dimension, &variable);
  ncmpi_enddef(file);
  const auto first = static_cast<MPI_Offset>(redistribution.first());
  const auto count = static_cast<MPI_Offset>(redistribution.block().size());
  if (ncmpi_put_vara_double_all(file, variable, &first, &count, redistribution.block().data()) != NC_NOERR) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (sync) ncmpi_sync(file);
  ncmpi_close(file);
}

void write_indexed(const std::string& path, std::vector<std::uint64_t> numbers, const std::vector<double>& data,
                   bool sync) {
  // File types must rise; the program that makes them anyway has its items in that order.
  std::sort(numbers.begin(), numbers.end());
  std::vector<int> places(numbers.begin(), numbers.end());
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_indexed_block(static_cast<int>(places.size()), 1, places.data(), MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_File file = MPI_FILE_NULL;
  MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
  MPI_File_set_view(file, 0, MPI_DOUBLE, type, "native", MPI_INFO_NULL);
  MPI_File_write_all(file, data.data(), static_cast<int>(data.size()), MPI_DOUBLE, MPI_STATUS_IGNORE);
  if (sync) MPI_File_sync(file);
  MPI_File_close(&file);
  MPI_Type_free(&type);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ArraysOfRanks arrays;
  bool only_indexed = false, sync = false;
  CLI::App app("What others need for the same arrays: seconds, each the slowest rank's");
  arrays.add_to(app);
  app.add_flag("--only-indexed", only_indexed, "MPI-IO with indexed file types, and nothing else");
  app.add_flag("--sync", sync, "wait for the disk");
  CLI11_PARSE(app, argc, argv);
  const auto numbers = arrays.numbers(ranks_of_all(), rank_of_all());
  std::vector<double> data(numbers.begin(), numbers.end()), copy(data.size());
  nlohmann::json json;
  const std::string path = arrays.directory + "/peers-bench";
  // A new file each time, as a checkpoint is.
  const auto write = [&](const char* what, const std::function<void()>& work) {
    for (int i = 0; i < arrays.repeat; ++i) {
      json[what].push_back(timed(work));
      if (rank_of_all() == 0) ::unlink(path.c_str());
    }
  };
  if (only_indexed) {
    write("mpi_indexed", [&] { write_indexed(path, numbers, data, sync); });
  } else {
    Redistribution redistribution(numbers, arrays.items);
    json["copy"] =
        repeated(arrays.repeat, [&] { std::memcpy(copy.data(), data.data(), data.size() * sizeof(double)); });
    json["redistribution"] = repeated(arrays.repeat, [&] { redistribution.bring(data); });
    write("hdf5_collective", [&] {
      redistribution.bring(data);
      write_hdf5(path, arrays.items, redistribution, sync);
    });
    write("pnetcdf_collective", [&] {
      redistribution.bring(data);
      write_pnetcdf(path, arrays.items, redistribution, sync);
    });
  }
  if (rank_of_all() == 0) fmt::print("{}\n", json.dump(1));
  MPI_Finalize();
}
