// Writes of every kind, each a scenario with a name. Started in the case; results do not matter, as in programs that
// ignore them. errors_test.py looks at the library's notes of them.
#include <aio.h>
#include <stdio_ext.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <thread>

#include "run/redirect/tests/say.h"

namespace {

const std::string text(300'000, 'x');

int make(const char* path) {
  return open(path, O_RDWR | O_CREAT, 0644);
}
template <class Use>
void with_file(const char* path, const Use& use) {
  const int fd = make(path);
  use(fd);
  close(fd);
}
int source() {
  const int fd = open("/proc/self/exe", O_RDONLY);
  return fd;
}
void expect(bool good) {
  if (good) return;
  std::cerr << "not as expected: " << std::strerror(errno) << "\n";
  std::exit(1);
}

// The same for calls that take parts.
std::vector<iovec> parts() {
  const auto part = [](size_t size) { return iovec{const_cast<char*>(text.data()), size}; };
  return {part(0), part(100'000), part(100'000), part(100'000)};
}

void print(FILE* stream, int lines) {
  for (int i = 0; i < lines; ++i) std::fprintf(stream, "line %d\n", i);
}

const std::map<std::string, std::function<void()>> scenarios{
    {"write", [] { with_file("5/f", [](int fd) { write(fd, text.data(), text.size()); }); }},
    {"write of nothing but errors",
     [] {
       with_file("5/f", [](int fd) {
         for (int i = 0; i < 20; ++i) write(fd, text.data(), text.size());
       });
     }},
    {"a program that goes on after a short write",
     [] {
       with_file("5/f", [](int fd) {
         size_t done = 0;
         for (ssize_t more; (more = write(fd, text.data(), text.size() - done)) > 0;) done += static_cast<size_t>(more);
       });
     }},
    {"pwrite", [] { with_file("5/f", [](int fd) { pwrite(fd, text.data(), text.size(), 1000); }); }},
    {"writev", [] { with_file("5/f", [](int fd) { writev(fd, parts().data(), 4); }); }},
    {"pwritev", [] { with_file("5/f", [](int fd) { pwritev(fd, parts().data(), 4, 1000); }); }},
    {"pwritev2", [] { with_file("5/f", [](int fd) { pwritev2(fd, parts().data(), 4, -1, 0); }); }},
    {"sendfile",
     [] {
       with_file("5/f", [](int fd) {
         while (sendfile(fd, source(), nullptr, 1 << 20) > 0 && lseek(fd, 0, SEEK_CUR) < 8 << 20) continue;
       });
     }},
    {"copy_file_range",
     [] {
       with_file("5/g", [](int from) {
         expect(pwrite(from, text.data(), 20'000, 0) == 20'000);
         with_file("5/f", [&](int fd) {
           for (off_t at = 0; at < 3'000'000; at += 20'000) {
             off_t begin = 0, to = at;
             if (copy_file_range(from, &begin, fd, &to, 20'000, 0) < 0) break;
           }
         });
       });
     }},
    {"splice",
     [] {
       int pipes[2];
       expect(pipe(pipes) == 0);
       with_file("5/f", [&](int fd) {
         for (int i = 0; i < 200; ++i)
           if (write(pipes[1], text.data(), 16'384) < 0 || splice(pipes[0], nullptr, fd, nullptr, 16'384, 0) < 0) break;
       });
     }},
    {"ftruncate", [] { with_file("5/f", [](int fd) { expect(ftruncate(fd, 10) != 0); }); }},
    {"fallocate", [] { with_file("5/f", [](int fd) { expect(fallocate(fd, 0, 0, 10 << 20) != 0); }); }},
    {"posix_fallocate", [] { with_file("5/f", [](int fd) { expect(posix_fallocate(fd, 0, 10 << 20) != 0); }); }},
    {"fsync", [] { with_file("5/f", [](int fd) { expect(fsync(fd) != 0); }); }},
    {"fdatasync", [] { with_file("5/f", [](int fd) { expect(fdatasync(fd) != 0); }); }},
    {"msync",
     [] {
       with_file("5/f", [](int fd) {
         expect(ftruncate(fd, 4096) == 0);
         void* mapped = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
         expect(msync(mapped, 4096, MS_SYNC) != 0);
       });
     }},
    {"close", [] { expect(close(make("5/f")) != 0); }},
    {"fclose of a file that fails when it is closed", [] { std::fclose(std::fopen("5/f", "w")); }},
    {"aio_write",
     [] {
       with_file("5/f", [](int fd) {
         aiocb request{};
         request.aio_fildes = fd;
         request.aio_buf = const_cast<char*>(text.data());
         request.aio_nbytes = 4096;
         aio_write(&request);
         const aiocb* const requests[] = {&request};
         aio_suspend(requests, 1, nullptr);
         expect(aio_error(&request) != 0);
       });
     }},
    {"open", [] { expect(make("5/f") < 0); }},
    {"openat",
     [] {
       const int directory = open("5", O_RDONLY);
       expect(openat(directory, "f", O_WRONLY | O_CREAT, 0644) < 0);
     }},
    {"creat", [] { expect(creat("5/f", 0644) < 0); }},
    {"fopen", [] { expect(std::fopen("5/f", "w") == nullptr); }},
    {"mkstemp",
     [] {
       char name[] = "5/fXXXXXX";
       expect(mkstemp(name) < 0);
     }},
    {"mkdir", [] { expect(mkdir("7", 0755) != 0); }},
    {"mkdirat", [] { expect(mkdirat(open("5", O_RDONLY), "f", 0755) != 0); }},
    {"symlink", [] { expect(symlink("text", "5/f") != 0); }},
    {"link",
     [] {
       close(make("5/g"));
       expect(link("5/g", "5/f") != 0);
     }},
    {"rename",
     [] {
       close(make("5/g"));
       expect(rename("5/g", "5/f") != 0);
     }},
    {"truncate", [] { expect(truncate("big", 10) != 0); }},
    {"an input that is opened for writing", [] { expect(open("big", O_WRONLY) < 0); }},
    {"fprintf and fclose",
     [] {
       FILE* stream = std::fopen("5/f", "w");
       print(stream, 10);
       expect(std::fclose(stream) != 0 && (errno == ENOSPC || errno == EDQUOT));
     }},
    {"fprintf of more than a buffer",
     [] {
       FILE* stream = std::fopen("5/f", "w");
       print(stream, 60'000);
       std::fclose(stream);
     }},
    {"fflush",
     [] {
       FILE* stream = std::fopen("5/f", "w");
       print(stream, 10);
       expect(std::fflush(stream) != 0);
       expect(std::fclose(stream) == 0);
     }},
    {"fflush of all streams",
     [] {
       FILE* stream = std::fopen("5/f", "w");
       print(stream, 10);
       expect(std::fflush(nullptr) != 0);
       expect(std::fclose(stream) == 0);
     }},
    {"clearerr",
     [] {
       FILE* stream = std::fopen("5/f", "w");
       print(stream, 60'000);
       std::clearerr(stream);
       _exit(0);
     }},
    {"rewind",
     [] {
       FILE* stream = std::fopen("5/f", "w");
       print(stream, 60'000);
       std::rewind(stream);
       _exit(0);
     }},
    {"freopen",
     [] {
       FILE* stream = std::fopen("5/f", "w");
       print(stream, 10);
       expect(std::freopen("/dev/null", "w", stream) != nullptr);
     }},
    {"a stream that nobody closes", [] { print(std::fopen("5/f", "w"), 10); }},
    {"or in which a write failed before",
     [] {
       FILE* stream = std::fopen("5/f", "w");
       print(stream, 60'000);
     }},
    {"standard output",
     [] {
       dup2(make("5/f"), 1);
       print(stdout, 10);
     }},
    {"std::ofstream", [] { std::ofstream("5/f") << text << std::endl; }},
    {"std::ofstream in small pieces",
     [] {
       std::ofstream out("5/f");
       for (int i = 0; i < 100'000; ++i) out << i << '\n';
     }},
    {"a thread",
     [] { std::thread([] { with_file("5/f", [](int fd) { write(fd, text.data(), text.size()); }); }).join(); }},
    {"a child",
     [] {
       const pid_t child = fork();
       if (child == 0) {
         const int fd = make("5/f");
         write(fd, text.data(), text.size());
         _exit(0);
       }
       waitpid(child, nullptr, 0);
     }},
    {"a shell's command", [] { expect(std::system("echo text > 5/f") != 0); }},
    {"a file of a rank's", [] { with_file("processor0/5/f", [](int fd) { write(fd, text.data(), text.size()); }); }},
    {"a file that was removed",
     [] {
       with_file("5/f", [](int fd) {
         unlink("5/f");
         write(fd, text.data(), text.size());
       });
     }},
    // Failures that lose nothing of the case.
    {"a file of the case that is elsewhere",
     [] {
       const int fd = open("/dev/full", O_WRONLY);
       expect(write(fd, text.data(), text.size()) < 0);
       close(fd);
       FILE* stream = std::fopen("/dev/full", "w");
       print(stream, 10);
       expect(std::fclose(stream) != 0);
     }},
    {"a limit of a file's size",
     [] {
       const rlimit limit{1000, 1000};
       expect(setrlimit(RLIMIT_FSIZE, &limit) == 0);
       with_file("5/f", [](int fd) { expect(write(fd, text.data(), 2000) == 1000); });
     }},
    {"a pipe that takes a part",
     [] {
       int pipes[2];
       expect(pipe2(pipes, O_NONBLOCK) == 0);
       expect(write(pipes[1], text.data(), text.size()) < static_cast<ssize_t>(text.size()));
       expect(write(pipes[1], text.data(), text.size()) < 0 && errno == EAGAIN);
     }},
    {"a short write that can go on",
     [] {
       with_file("5/f", [](int fd) {
         expect(write(fd, text.data(), 1000) == 1000);
         expect(pwrite(fd, text.data(), 1000, 1000) == 1000);
         expect(writev(fd, parts().data(), 4) == 300'000);
         expect(lseek(fd, 0, SEEK_CUR) == 301'000);
       });
     }},
    {"a stream that is read only",
     [] {
       FILE* stream = std::fopen("big", "r");
       expect(std::fputc('x', stream) == EOF && std::fclose(stream) == 0);
     }},
};

}  // namespace

int main(int, char** arguments) {
  const auto found = scenarios.find(arguments[1]);
  expect(found != scenarios.end());
  found->second();
  return 0;
}
