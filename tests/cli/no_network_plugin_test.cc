// Nothing but `fetch` uses the network: the binary holds no way to it, and what libtpu does while it compiles
// is watched where strace is there.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "base/paths.h"
#include "base/subprocess.h"

namespace sublane {
namespace {

const std::string kSublane = SUBLANE_BINARY_DIR "/sublane";
const std::string kProgram = SUBLANE_SOURCE_DIR "/tests/report/stablehlo/scan_24.mlir";

SubprocessResult shell(const std::string& command) {
  Subprocess child;
  child.argv = {"/bin/sh", "-c", command};
  return run(child).value();
}

TEST(NoNetwork, TheBinaryHasNoSocketsOfItsOwn) {
  const SubprocessResult symbols = shell("nm -D --undefined-only " + kSublane);
  ASSERT_EQ(symbols.code, 0) << symbols.errors;
  ASSERT_NE(symbols.output.find(" U write@"), std::string::npos) << "nm lists what the binary calls";
  const std::regex network(
      R"( U (socket|connect|bind|listen|accept4?|getaddrinfo|gethostbyname|sendto|recvfrom)(@|\n))");
  std::smatch found;
  EXPECT_FALSE(std::regex_search(symbols.output, found, network)) << found.str();
}

TEST(NoNetwork, NeitherDoesACompileReachOut) {
  if (shell("command -v strace").code != 0) GTEST_SKIP() << "there is no strace here";
  const TemporaryDirectory folder = TemporaryDirectory::create().value();
  const std::string trace = folder.path() + "/trace";
  // A cache of its own, so that libtpu does compile.
  const SubprocessResult made = shell(
      "export SUBLANE_PARTS_HOME=${XDG_CACHE_HOME:-$HOME/.cache}/sublane/parts; export XDG_CACHE_HOME=" +
      folder.path() +
      "; mkdir -p $XDG_CACHE_HOME/sublane && ln -s $SUBLANE_PARTS_HOME $XDG_CACHE_HOME/sublane/parts && "
      "strace -f -qq -e trace=connect,sendto,sendmsg,sendmmsg,bind,listen -o " +
      trace + " " + kSublane + " simulate " + kProgram + " --chip v6e");
  if (made.code != 0 && made.errors.find("ptrace") != std::string::npos) GTEST_SKIP() << made.errors;
  ASSERT_EQ(made.code, 0) << made.errors;
  std::ifstream file(trace);
  std::string line;
  int64_t lines = 0;
  while (std::getline(file, line)) {
    ++lines;
    EXPECT_EQ(line.find("AF_INET"), std::string::npos) << line;
  }
  EXPECT_GT(lines, 0) << "the trace is of the compile: it ends with its processes";
}

}  // namespace
}  // namespace sublane
