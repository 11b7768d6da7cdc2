#include "pjrt/dump.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/paths.h"

namespace sublane::pjrt {
namespace {

TEST(DumpName, IsTakenApartFromBothEnds) {
  const auto name = parseDumpName("1796-fusion.1-02-packed-bundles-post-ra.txt");
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->stamp, "1796");
  EXPECT_EQ(name->function, "fusion.1");
  EXPECT_EQ(name->number, 2);
  EXPECT_EQ(name->label, "packed-bundles-post-ra");
}

TEST(DumpName, FunctionsMayBeCalledAnything) {
  for (const char* function : {"<late-initialization>", "TLP", "a-01-assembly", "copy-start.2", "k v%1(x)"}) {
    const auto name = parseDumpName(std::string("17-") + function + "-113-assembly.txt");
    ASSERT_TRUE(name.has_value()) << function;
    EXPECT_EQ(name->function, function);
    EXPECT_EQ(name->number, 113);
  }
}

TEST(DumpName, OtherFilesAreNone) {
  for (const char* name :
       {"1796-TLP-01-schedule-analysis_packed-bundles-post-ra.txt", "1796-TLP-11-assembly-pre-overlay.txt",
        "1796-TLP-hlo.txt", "1796-TLP-14-vmem_report.html", "1796-TLP-15-assembly", "assembly.txt",
        "-assembly.txt", "1796-assembly.txt", "1796-02-assembly.txt", "1796--02-assembly.txt",
        "1796-TLP-2x-assembly.txt", "1796-TLP--assembly.txt", "1796-TLP-99999999999-assembly.txt", ""}) {
    EXPECT_FALSE(parseDumpName(name).has_value()) << name;
  }
}

TEST(DumpFlags, AskForWhatIsWanted) {
  AheadOfTimeRequest request;
  request.init_args = {"--mine=1"};
  EXPECT_FALSE(wantsDump(request));
  EXPECT_EQ(dumpFlags(request, "/d"), std::vector<std::string>{"--mine=1"});
  request.want_listings = true;
  std::vector<std::string> flags = dumpFlags(request, "/d");
  ASSERT_EQ(flags.size(), 4u);
  EXPECT_EQ(flags[0], "--mine=1");
  EXPECT_EQ(flags[1], "--xla_jf_dump_to=/d");
  EXPECT_NE(flags[3].find("packed-bundles-post-ra|"), std::string::npos);
  EXPECT_EQ(flags[3].find("assembly"), std::string::npos) << "it is large";
  request.want_assembly = request.want_profile = true;
  flags = dumpFlags(request, "/d");
  ASSERT_EQ(flags.size(), 5u);
  EXPECT_NE(flags[3].find("|assembly"), std::string::npos);
  EXPECT_EQ(flags[4], "--xla_jf_dump_static_llo_profile_to=/d/profile");
}

TEST(AllocationLines, AreKeptWhole) {
  EXPECT_EQ(allocationLines(""), "");
  EXPECT_EQ(allocationLines("a\nb #allocation0 x\n\n#allocation1"), "b #allocation0 x\n#allocation1");
}

class Dump : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryDirectory> folder = TemporaryDirectory::create();
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
    std::filesystem::create_directories(folder_->path() + "/profile");
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_->path() + "/" + name) << text;
  }
  std::optional<TemporaryDirectory> folder_;
};

TEST_F(Dump, IsReadInOrderWithTheLastOfEach) {
  write("20-fusion-01-packed-bundles-post-ra.txt", "one");
  write("10-TLP-16-hlo-details.txt", "final");
  write("10-TLP-9-hlo-details.txt", "first");
  write("10-TLP-05-schedule-analysis_packed-bundles-post-ra.txt", "no");
  write("10-TLP-04-post-delay-converter.txt", "x\n#allocation0 [shape]\ny\n");
  write("profile/fusion.textproto", "cycles: 3");
  write("profile/fusion_bundles.txt", "no");
  const std::vector<DumpFile> expected = {{"TLP", "hlo-details", "final"},
                                          {"TLP", "post-delay-converter", "#allocation0 [shape]\n"},
                                          {"fusion", "packed-bundles-post-ra", "one"},
                                          {"fusion", "static-profile", "cycles: 3"}};
  EXPECT_EQ(readDump(folder_->path()), expected);
}

TEST_F(Dump, NothingIsNoError) {
  EXPECT_TRUE(readDump(folder_->path()).empty());
  EXPECT_TRUE(readDump(folder_->path() + "/none").empty());
}

}  // namespace
}  // namespace sublane::pjrt
