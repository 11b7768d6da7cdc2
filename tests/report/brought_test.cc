// Programs that a user brings: files of HLO, and directories of dumps as XLA and libtpu lay them out.
#include "report/brought.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/paths.h"
#include "modules.h"
#include "report/dump_directory.h"

namespace sublane::report {
namespace {

namespace fs = std::filesystem;

/// A folder of files by name, gone with the object.
class Folder {
 public:
  Folder() : folder_(*TemporaryDirectory::create()) {}
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = folder_.path() + "/" + name;
    fs::create_directories(fs::path(path).parent_path());
    EXPECT_TRUE(writeFileAtomically(path, text).ok());
    return path;
  }
  const std::string& path() const { return folder_.path(); }

 private:
  TemporaryDirectory folder_;
};

/// The text of a module with `adds` additions.
std::string module(const std::string& name, int adds = 1) {
  std::string text =
      "HloModule " + name +
      ", is_scheduled=true\n\nENTRY %main (x: f32[8,128]) -> f32[8,128] {\n"
      "  %x.0 = f32[8,128]{1,0:T(8,128)} parameter(0), metadata={op_name=\"x\" source_file=\"m.py\"}, "
      "backend_config={\"window_config\":{\"estimated_cycles\":\"9\"}}\n";
  for (int i = 0; i < adds; ++i)
    text += fmt::format("  %x.{} = f32[8,128]{{1,0:T(8,128)}} add(%x.{}, %x.{})\n", i + 1, i, i);
  return text + "}\n";
}

/// As the compiler's, it begins with its name and that of its entry.
const std::string kProto = bytes(1, "test") + bytes(2, "main") + loopModule(0, 3, 1).substr(6);

size_t instructions(const Result<BroughtProgram>& program) {
  EXPECT_TRUE(program.ok()) << (program.ok() ? "" : program.error().text());
  return program.ok() ? program->module.entryComputation().instructions.size() : 0;
}

TEST(Brought, AFileOfTextOrProto) {
  const Folder folder;
  const std::string text = folder.write("f.hlo", module("jit_f")), proto = folder.write("f.pb", kProto);
  EXPECT_TRUE(looksBrought(text));
  EXPECT_TRUE(looksBrought(proto));
  const auto program = readBrought(text, "");
  EXPECT_EQ(instructions(program), 2u);
  EXPECT_EQ(program->form, "HLO text");
  EXPECT_EQ(program->name, "jit_f");
  EXPECT_TRUE(program->notes.empty()) << program->notes[0];
  const auto of_proto = readBrought(proto, "");
  EXPECT_EQ(instructions(of_proto), 6u);
  EXPECT_EQ(of_proto->form, "HLO proto");
  ASSERT_EQ(of_proto->notes.size(), 3u) << "not scheduled, no tiles, no sources";
  EXPECT_TRUE(of_proto->notes[0].starts_with("the module is not scheduled"));
  EXPECT_EQ(readBrought(text, "jit_g").error().message(),
            text + ": holds one module, \"jit_f\", not \"jit_g\"");
}

TEST(Brought, OtherThingsAreNotOurs) {
  const Folder folder;
  EXPECT_FALSE(looksBrought(folder.write("f.mlir", "module @jit_f {}")));
  EXPECT_FALSE(looksBrought(folder.write("empty.txt", "")));
  EXPECT_FALSE(looksBrought(folder.path() + "/missing"));
  EXPECT_FALSE(looksBrought(folder.path())) << "no module in it";
  folder.write("model/config.json", "{}");
  folder.write("model/f.hlo", module("f"));
  EXPECT_FALSE(looksBrought(folder.path() + "/model")) << "a model's directory";
  EXPECT_TRUE(looksBrought(folder.path()));
}

TEST(Brought, TakesTheLastStageOfADumpedModule) {
  const Folder folder;
  const std::string stem = "xla/module_0001.jit_f.cl_7.";
  folder.write(stem + "before_optimizations.txt", module("jit_f", 9));
  folder.write("xla/module_0001.jit_f.before_optimizations.txt", module("jit_f", 9));
  folder.write(stem + "0042.fusion.after_pass.before_next.txt", module("jit_f", 8));
  folder.write(stem + "after_optimizations_before_buffer_assignment.txt", module("jit_f", 7));
  folder.write(stem + "after_optimizations-buffer-assignment.txt", "BufferAssignment:\n");
  const std::string optimized = folder.write(stem + "after_optimizations.txt", module("jit_f", 2));
  auto program = readBrought(folder.path(), "");
  EXPECT_EQ(instructions(program), 3u);
  EXPECT_EQ(program->form, "dump directory");
  ASSERT_EQ(program->notes.size(), 1u);
  EXPECT_TRUE(program->notes[0].starts_with("no listings by libtpu")) << program->notes[0];
  const std::string last = folder.write(stem + "after_codegen.txt", module("jit_f", 3));
  EXPECT_EQ(instructions(readBrought(folder.path(), "")), 4u);
  folder.write(stem + "after_codegen.txt", module("jit_f", 3).substr(0, 150));
  program = readBrought(folder.path(), "");
  EXPECT_EQ(instructions(program), 3u) << "the last stage is cut, the one before is whole";
  EXPECT_EQ(fs::path(program->path).filename(), fs::path(optimized).filename());
  ASSERT_FALSE(program->notes.empty());
  EXPECT_TRUE(program->notes[0].starts_with("passed over: ")) << program->notes[0];
}

TEST(Brought, SeveralModulesAreListedAndPicked) {
  const Folder folder;
  folder.write("module_0001.jit_f.cl_7.after_optimizations.txt", module("jit_f"));
  folder.write("module_0002.jit_step.cl_7.after_optimizations.txt", module("jit_step", 5));
  folder.write("module_0003.jit_f.cl_7.after_optimizations.txt", module("jit_f", 2));
  const auto several = readBrought(folder.path(), "");
  ASSERT_FALSE(several.ok());
  EXPECT_TRUE(
      several.error().message().starts_with(folder.path() + ": 3 modules\n  module_0001.jit_f.cl_7 ("))
      << several.error().message();
  EXPECT_EQ(several.error().hint(), "--module NAME picks one; the largest is module_0002.jit_step.cl_7");
  EXPECT_EQ(instructions(readBrought(folder.path(), "jit_step")), 6u);
  EXPECT_EQ(instructions(readBrought(folder.path(), "module_0003")), 3u);
  EXPECT_NE(readBrought(folder.path(), "jit_f").error().message().find("2 modules are named \"jit_f\""),
            std::string::npos);
  EXPECT_NE(readBrought(folder.path(), "jit_g").error().message().find("no module \"jit_g\"; there are"),
            std::string::npos);
}

TEST(Brought, ASnapshotHoldsTheModuleThatRan) {
  const Folder folder;
  folder.write("module_0001.jit_f.before_optimizations.txt", module("jit_f", 9));
  folder.write("module_0001.jit_f.snapshot.0.pb", bytes(1, bytes(1, kProto)) + bytes(2, "an argument"));
  const auto program = readBrought(folder.path(), "");
  EXPECT_EQ(instructions(program), 6u);
  EXPECT_TRUE(program->path.ends_with("snapshot.0.pb")) << program->path;
}

TEST(Brought, DirectoriesWithoutAProgramSayWhy) {
  const Folder folder;
  EXPECT_EQ(readBrought(folder.path(), "").error().message(),
            folder.path() + ": no HLO module among 0 files");
  folder.write("5-TLP-02-packed-bundles-post-ra.txt", "0x0: {}\n");
  EXPECT_EQ(readBrought(folder.path(), "").error().message(),
            folder.path() + ": listings of 1 programs, but no HLO module beside them");
  folder.write("module_0001.jit_f.cl_7.before_optimizations.txt", module("jit_f"));
  EXPECT_EQ(readBrought(folder.path(), "").error().message(),
            folder.path() + ": 1 modules, none of them optimised (the first: module_0001.jit_f.cl_7)");
}

/// Two programs of one process, as libtpu writes them into one folder: functions have later stamps.
void writeListings(const Folder& folder, const std::string& under) {
  for (const std::string stamp : {"100", "200"}) {
    folder.write(under + stamp + "-TLP-hlo.txt", module("jit_f", stamp == "100" ? 1 : 2));
    folder.write(under + stamp + "-TLP-02-packed-bundles-post-ra.txt", "top of " + stamp);
    folder.write(under + stamp + "-TLP-07-hlo-details.txt", "details");
    folder.write(under + stamp + "-TLP-09-assembly.txt", "large");
  }
  folder.write(under + "150-fusion-01-packed-bundles-post-ra.txt", "fusion of 100");
  folder.write(under + "250-fusion-01-packed-bundles-post-ra.txt", "fusion of 200");
}

TEST(Brought, ListingsGoWithTheirProgram) {
  const Folder folder;
  writeListings(folder, "llo/");
  const auto program = readBrought(folder.path(), "jit_f@200");
  ASSERT_EQ(instructions(program), 3u);
  ASSERT_EQ(program->dump.size(), 3u);
  EXPECT_EQ(program->dump[0], (pjrt::DumpFile{"TLP", "hlo-details", "details"}));
  EXPECT_EQ(program->dump[1], (pjrt::DumpFile{"TLP", "packed-bundles-post-ra", "top of 200"}));
  EXPECT_EQ(program->dump[2], (pjrt::DumpFile{"fusion", "packed-bundles-post-ra", "fusion of 200"}));
  EXPECT_EQ(readBrought(folder.path(), "jit_f@100")->dump[2].text, "fusion of 100");
}

TEST(Brought, XlasModuleAndLibtpusListingsBecomeOne) {
  const Folder folder;
  folder.write("llo/100-TLP-hlo.txt", module("jit_f"));
  folder.write("llo/100-TLP-02-packed-bundles-post-ra.txt", "top");
  folder.write("xla/module_0007.jit_f.cl_7.after_codegen.txt", module("jit_f"));
  folder.write("xla/module_0008.jit_g.cl_7.after_codegen.txt", module("jit_g", 4));
  const auto listing = listDump(folder.path());
  ASSERT_TRUE(listing.ok()) << listing.error().text();
  ASSERT_EQ(listing->modules.size(), 2u);
  EXPECT_EQ(listing->modules[0].name, "module_0007.jit_f.cl_7");
  EXPECT_EQ(listing->modules[0].listings.size(), 1u);
  EXPECT_EQ(readBrought(folder.path(), "jit_f")->dump.size(), 1u);
  EXPECT_TRUE(readBrought(folder.path(), "jit_g")->dump.empty());
}

TEST(Brought, ModulesOfOneNameGoInOrderAndAreCompared) {
  const Folder folder;
  writeListings(folder, "");
  folder.write("module_0007.jit_f.cl_7.after_codegen.txt", module("jit_f", 1));
  const std::string second = folder.write("module_0008.jit_f.cl_7.after_codegen.txt", module("jit_f", 2));
  EXPECT_EQ(listDump(folder.path())->modules.size(), 2u);
  auto program = readBrought(folder.path(), "module_0008");
  EXPECT_EQ(program->path, fs::canonical(second));
  ASSERT_EQ(program->dump.size(), 3u);
  EXPECT_EQ(program->dump[2].text, "fusion of 200");
  folder.write("module_0008.jit_f.cl_7.after_codegen.txt", module("jit_f", 5));
  program = readBrought(folder.path(), "module_0008");
  EXPECT_EQ(instructions(program), 3u) << "libtpu's own";
  EXPECT_NE(program->notes.at(0).find("it is of another compile than"), std::string::npos)
      << program->notes[0];
}

TEST(Brought, LinksOutOfTheDirectoryAreNotFollowed) {
  const Folder outside, folder;
  const std::string target = outside.write("secret.txt", module("secret"));
  folder.write("f.txt", module("f"));
  fs::create_symlink(target, folder.path() + "/g.txt");
  fs::create_directory_symlink(outside.path(), folder.path() + "/more");
  fs::create_directory_symlink(folder.path(), folder.path() + "/itself");
  fs::create_symlink("f.txt", folder.path() + "/same.txt");
  const auto listing = listDump(folder.path());
  ASSERT_TRUE(listing.ok());
  ASSERT_EQ(listing->modules.size(), 2u);
  EXPECT_EQ(listing->modules[1].name, "same");
  ASSERT_EQ(listing->notes.size(), 1u);
  EXPECT_EQ(listing->notes[0], "2 links lead out of the directory: not followed");
}

}  // namespace
}  // namespace sublane::report
