// Nothing but `fetch` (which runs pip) uses the network: the sources hold no way to it, and what the verbs
// and libtpu do is watched where strace is there.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

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

/// The symbol table says nothing: Rust's library brings its sockets along, used or not.
TEST(NoNetwork, TheSourcesHoldNoWayToIt) {
  constexpr std::string_view kWays[] = {"sys/socket.h", "netdb.h",   "netinet/",  "arpa/inet.h", "curl/",
                                        "std::net",     "TcpStream", "UdpSocket", "reqwest",     "hyper::"};
  int64_t files = 0;
  for (const auto& at : std::filesystem::recursive_directory_iterator(SUBLANE_SOURCE_DIR "/src")) {
    const std::string ending = at.path().extension().string();
    if (ending != ".cc" && ending != ".h" && ending != ".rs" && ending != ".toml") continue;
    ++files;
    const std::string text = readFile(at.path().string()).value();
    for (const std::string_view way : kWays) EXPECT_EQ(text.find(way), text.npos) << at.path() << ": " << way;
  }
  EXPECT_GT(files, 100);
}

TEST(NoNetwork, NeitherVerbsNorLibtpuReachOut) {
  if (shell("command -v strace").code != 0) GTEST_SKIP() << "there is no strace here";
  const TemporaryDirectory folder = TemporaryDirectory::create().value();
  const std::string trace = folder.path() + "/trace";
  // A cache of its own, so that libtpu does compile.
  const std::string own_cache =
      "parts=${XDG_CACHE_HOME:-$HOME/.cache}/sublane/parts; export XDG_CACHE_HOME=" + folder.path() +
      "; mkdir -p $XDG_CACHE_HOME/sublane && ln -s $parts $XDG_CACHE_HOME/sublane/parts";
  ASSERT_EQ(shell(own_cache).code, 0);
  const std::string other = SUBLANE_SOURCE_DIR "/tests/report/stablehlo/unrolled_24.mlir";
  int64_t lines = 0;
  for (const std::string& verb :
       {"simulate " + kProgram, "explain " + kProgram, "diff " + kProgram + " " + other}) {
    const SubprocessResult made =
        shell("XDG_CACHE_HOME=" + folder.path() +
              " strace -f -qq -e trace=connect,sendto,sendmsg,sendmmsg,bind,listen -o " + trace + " " +
              kSublane + " " + verb + " --chip v6e");
    if (made.code != 0 && made.errors.find("ptrace") != std::string::npos) GTEST_SKIP() << made.errors;
    ASSERT_EQ(made.code, 0) << made.errors;
    std::ifstream file(trace);
    for (std::string line; std::getline(file, line); ++lines)
      EXPECT_EQ(line.find("AF_INET"), std::string::npos) << verb << ": " << line;
  }
  EXPECT_GT(lines, 0) << "libtpu looks up its user when it compiles: without a line nothing was traced";
}

}  // namespace
}  // namespace sublane
