// HLO text, written by hand as the compiler would: read into the same module as its proto, and every fault
// with its line and column.
#include "llo/hlo_text.h"

#include <gtest/gtest.h>

#include "hlo_writer.h"
#include "llo/hlo_file.h"
#include "same_module.h"

namespace sublane::llo {
namespace {

using namespace testing;  // NOLINT: the encoder

HloModule fromText(const std::string& text) {
  Result<HloModule> module = readHloText(text, "f.txt");
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().text());
  return module.ok() ? std::move(*module) : HloModule{};
}

/// A module whose entry has these lines after two parameters, %x f32[8,128] and %n s32[].
std::string entryWith(const std::string& lines) {
  return "HloModule m, is_scheduled=true\n\nENTRY %main (x: f32[8,128], n: s32[]) -> f32[8,128] {\n"
         "  %x = f32[8,128]{1,0:T(8,128)} parameter(0)\n  %n = s32[]{:T(128)} parameter(1)\n" +
         lines + "}\n";
}

Instruction lastOf(const std::string& lines) {
  const HloModule module = fromText(entryWith(lines));
  return module.computations.empty() ? Instruction{} : module.entryComputation().instructions.back();
}

std::string errorOf(const std::string& text) {
  const Result<HloModule> module = readHloText(text, "f.txt");
  return module.ok() ? "read" : module.error().text();
}

TEST(HloText, ALoopSaysTheSameAsItsProto) {
  const HloModule text = fromText(R"(HloModule test

%body (state: (s32[], f32[8,128], s32[])) -> (s32[], f32[8,128], s32[]) {
  %state = (s32[], f32[8,128]{1,0}, s32[]) parameter(0)
  %gte.2 = s32[] get-tuple-element(%state), index=0
  %gte.3 = f32[8,128]{1,0} get-tuple-element(%state), index=1
  %gte.4 = s32[] get-tuple-element(%state), index=2
  %step = s32[] constant(1)
  %next = s32[] add(%gte.2, %step)
  %sum = f32[8,128]{1,0} add(%gte.3, %gte.3), metadata={op_name="layer.*/mlp.up/add"}
  ROOT %out = (s32[], f32[8,128]{1,0}, s32[]) tuple(%next, %sum, %gte.4)
}

%condition (state: (s32[], f32[8,128], s32[])) -> pred[] {
  %state = (s32[], f32[8,128]{1,0}, s32[]) parameter(0)
  %gte.12 = s32[] get-tuple-element(%state), index=0
  %bound = s32[] constant(24)
  %gte.14 = s32[] get-tuple-element(%state), index=2
  ROOT %lt = pred[] compare(%gte.12, %bound), direction=LT
}

ENTRY %main (x: f32[8,128]) -> f32[8,128] {
  %x = f32[8,128]{1,0} parameter(0)
  %first = s32[] constant(0)
  %bound = s32[] constant(24)
  %start = (s32[], f32[8,128]{1,0}, s32[]) tuple(%first, %x, /*index=2*/%bound)
  %while = (s32[], f32[8,128]{1,0}, s32[]) while(%start), condition=%condition, body=%body
  ROOT %gte.26 = f32[8,128]{1,0} get-tuple-element(%while), index=1
}
)");
  const Result<HloModule> proto = readHloModule(loopModule(0, 24, 1));
  ASSERT_TRUE(proto.ok());
  EXPECT_EQ(difference(text, *proto), "");
  const Computation& entry = text.entryComputation();
  EXPECT_EQ(tripCount(text, entry, entry.at(4)), 24) << "the body is called before the condition";
}

TEST(HloText, ReadsShapesWithLayoutsTilesAndMemory) {
  const Shape shape = lastOf("  ROOT %s = bf16[64,2048]{1,0:T(8,128)(2,1)S(1)} copy(%x)\n").shape;
  EXPECT_EQ(toString(shape), "bf16[64,2048] VMEM");
  EXPECT_EQ(shape.layout.minor_to_major, (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(shape.layout.tiles, (std::vector<std::vector<int64_t>>{{8, 128}, {2, 1}}));
  const Shape many =
      lastOf("  %s = (f32[<=8]{0:T(*,128)L(64)E(4)}, (u8[]{:S(2)}, token[]), b(f32[2]{0})) custom-call(%x)\n")
          .shape;
  ASSERT_EQ(many.elements.size(), 3u);
  EXPECT_EQ(many.elements[0].dims, (std::vector<int64_t>{8}));
  EXPECT_EQ(many.elements[0].layout.tiles, (std::vector<std::vector<int64_t>>{{kCombineDimension, 128}}));
  EXPECT_EQ(many.elements[0].layout.tail_alignment, 64);
  EXPECT_EQ(many.elements[0].layout.element_bits, 4);
  EXPECT_EQ(many.elements[1].elements[0].layout.memory_space, 2);
  EXPECT_EQ(many.elements[1].elements[1].type, ElementType::kToken);
  EXPECT_EQ(many.elements[2].type, ElementType::kBuffer);
}

TEST(HloText, ReadsAConvolution) {
  const Instruction at = lastOf(
      "  %c = f32[1,8,8,4]{3,2,1,0} convolution(%x, %n), window={size=3x5 stride=2x1 pad=1_2x-1_0 "
      "lhs_dilate=1x2 "
      "rhs_dilate=3x1 rhs_reversal=1x0}, dim_labels=b01f_01io->b01f, feature_group_count=4, "
      "batch_group_count=2, "
      "operand_precision={highest,default}\n");
  ASSERT_EQ(at.window.size(), 2u);
  EXPECT_EQ(at.window[0].size, 3);
  EXPECT_EQ(at.window[0].stride, 2);
  EXPECT_EQ(at.window[0].padding_high, 2);
  EXPECT_EQ(at.window[0].window_dilation, 3);
  EXPECT_EQ(at.window[1].padding_low, -1);
  EXPECT_EQ(at.window[1].base_dilation, 2);
  EXPECT_EQ(at.convolution.input_feature, 3);
  EXPECT_EQ(at.convolution.input_spatial, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(at.convolution.kernel_input_feature, 2);
  EXPECT_EQ(at.convolution.kernel_output_feature, 3);
  EXPECT_EQ(at.feature_groups, 4);
  EXPECT_EQ(at.batch_groups, 2);
  EXPECT_EQ(at.precision, (std::vector<Precision>{Precision::kHighest, Precision::kDefault}));
}

TEST(HloText, ReadsDimensionsOfOtherOperations) {
  const Instruction dot = lastOf(
      "  %d = f32[8,8] dot(%x, %x), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={1}, "
      "rhs_contracting_dims={0,2}\n");
  EXPECT_EQ(dot.dot.lhs_batch, (std::vector<int64_t>{0}));
  EXPECT_EQ(dot.dot.rhs_batch, (std::vector<int64_t>{1}));
  EXPECT_EQ(dot.dot.lhs_contract, (std::vector<int64_t>{1}));
  EXPECT_EQ(dot.dot.rhs_contract, (std::vector<int64_t>{0, 2}));
  const Instruction slice = lastOf("  %s = f32[4,64] slice(%x), slice={[0:8:2], [64:128]}\n");
  ASSERT_EQ(slice.slice.size(), 2u);
  EXPECT_EQ(slice.slice[0].stride, 2);
  EXPECT_EQ(slice.slice[1].start, 64);
  EXPECT_EQ(slice.slice[1].limit, 128);
  EXPECT_EQ(lastOf("  %i = s32[8] iota(), iota_dimension=0\n").dimensions, (std::vector<int64_t>{0}));
  EXPECT_EQ(lastOf("  %t = f32[128,8] transpose(%x), dimensions={1,0}\n").dimensions,
            (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(lastOf("  %g = f32[1,128] dynamic-slice(%x, %n), dynamic_slice_sizes={1,128}\n").slice_sizes,
            (std::vector<int64_t>{1, 128}));
}

TEST(HloText, ReadsTextsConfigsAndAliases) {
  const Instruction call = lastOf(
      "  %k = (f32[8,128], s32[]) custom-call(%x, %n), custom_call_target=\"tpu_custom_call\", "
      "operand_layout_constraints={f32[8,128]{1,0}, s32[]}, output_to_operand_aliasing={{0}: (0, {}, "
      "must-alias), "
      "{1}: (1, {2})}, custom_call_has_side_effect=true, metadata={op_type=\"k\" "
      "op_name=\"a\\\"b\\\\\\303\\251\" "
      "source_file=\"m.py\" source_line=42 profile_type={1}}, backend_config={\"a\":\"},\\\"\",\"n\":[{}]}, "
      "control-predecessors={%x}\n");
  EXPECT_EQ(call.custom_call_target, "tpu_custom_call");
  EXPECT_EQ(call.metadata.op_name, "a\"b\\\303\251");
  EXPECT_EQ(call.metadata.source_file, "m.py");
  EXPECT_EQ(call.metadata.source_line, 42);
  EXPECT_EQ(call.backend_config, "{\"a\":\"},\\\"\",\"n\":[{}]}");
  EXPECT_EQ(call.control_predecessors, (std::vector<int32_t>{0}));
  ASSERT_EQ(call.aliases.size(), 2u);
  EXPECT_EQ(call.aliases[1].output_index, (std::vector<int64_t>{1}));
  EXPECT_EQ(call.aliases[1].operand, 1);
  EXPECT_EQ(call.aliases[1].operand_index, (std::vector<int64_t>{2}));
  EXPECT_EQ(lastOf("  %k = s32[] custom-call(), custom_call_target=\"q\", backend_config=\"a\\nb\"\n")
                .backend_config,
            "a\nb");
}

std::vector<int64_t> groupOf(const std::string& attribute) {
  return lastOf("  %g = f32[8,128] all-gather(%x), " + attribute + ", dimensions={0}\n").group;
}

TEST(HloText, ReadsGroupsOfDevicesInEverySpelling) {
  using Group = std::vector<int64_t>;
  EXPECT_EQ(groupOf("replica_groups={{1,3},{2,0}}"), (Group{2, 0}));
  EXPECT_EQ(groupOf("replica_groups={}"), Group{});
  EXPECT_EQ(groupOf("replica_groups=[2,4]<=[8]"), (Group{0, 1, 2, 3}));
  EXPECT_EQ(groupOf("replica_groups=[4,2]<=[2,4]T(1,0)"), (Group{0, 4}));
  EXPECT_EQ(groupOf("replica_groups=mesh['a'=2,'b'=4] {'a'}"), (Group{0, 4}));
  EXPECT_EQ(groupOf("replica_groups=mesh[a=2,b=4] {b:(2)2}"), (Group{0, 1}));
  EXPECT_EQ(groupOf("replica_groups=mesh['a'=2,'b'=2], device_ids=([3,1,2,0]) {'a','b'}"),
            (Group{0, 1, 2, 3}));
  EXPECT_EQ(groupOf("source_target_pairs={{1,0},{0,3}}"), (Group{0, 3}));
}

TEST(HloText, ReadsConstants) {
  const auto literal = [](const std::string& shape, const std::string& value) {
    return lastOf("  %k = " + shape + " constant(" + value + ")\n");
  };
  const auto bytesOf = [](auto... values) {
    std::string out;
    (out.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
    return out;
  };
  EXPECT_EQ(literal("s32[]", "-7").constant, -7);
  EXPECT_EQ(literal("u32[]", "4294967295").constant, 4294967295);
  EXPECT_EQ(literal("u64[]", "18446744073709551615").constant, -1);
  EXPECT_EQ(literal("pred[]", "true").constant, 1);
  EXPECT_FALSE(literal("s8[]", "5").constant) << "as the proto's reader";
  EXPECT_EQ(literal("s32[2,2]{0,1}", "{ { 1, 2 }, { 3, 4 } }").literal, bytesOf(1, 2, 3, 4)) << "row by row";
  EXPECT_EQ(literal("f32[2,1,2]", "{ /*i0=0*/ { {1.5, -inf} }, /*i0=1*/ { {1e-07, -0} } }").literal,
            bytesOf(1.5f, -INFINITY, 1e-7f, -0.0f));
  EXPECT_EQ(literal("bf16[2]", "{1, -2.5}").literal, bytesOf(uint16_t{0x3f80}, uint16_t{0xc020}));
  EXPECT_EQ(literal("f16[1]", "{1.5}").literal, bytesOf(uint16_t{0x3e00}));
  EXPECT_EQ(literal("pred[3]", "{101}").literal, bytesOf(char{1}, char{0}, char{1}));
  EXPECT_EQ(literal("f32[1]", "{nan(0x7)}").literal.size(), 4u);
  EXPECT_EQ(literal("f32[64]", "{...}").literal, "") << "left out";
  EXPECT_EQ(literal("f8e4m3fn[2]", "{1, 2}").literal, "") << "not kept, as by the proto's reader";
  EXPECT_EQ(literal("(s32[], f32[2])", "( 1, {2, 3} )").literal, "");
  EXPECT_EQ(literal("f32[0]", "{}").literal, "");
}

TEST(HloText, NamesLinesByStackFrames) {
  const HloModule module =
      fromText(R"(HloModule m, input_output_alias={ {1}: (2, {}, may-alias), {}: (0, {}) }

FileNames
1 "model.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=42 end_line=42 column=1 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

f {
  ROOT p = f32[8] parameter(0)
}

ENTRY main {
  p = f32[8] parameter(0)
  q = f32[8] fusion(f32[8] p), kind=kLoop, calls=f, metadata={op_name="q" stack_frame_id=1}
}, execution_thread="main"
)");
  ASSERT_EQ(module.computations.size(), 2u);
  const Instruction& at = module.entryComputation().at(1);
  EXPECT_EQ(at.metadata.source_file, "model.py");
  EXPECT_EQ(at.metadata.source_line, 42);
  EXPECT_EQ(module.entryComputation().root, 1) << "the last, where none is marked";
  EXPECT_TRUE(module.at(0).is_fusion);
  ASSERT_EQ(module.aliases.size(), 2u);
  EXPECT_EQ(module.aliases[0].output_index, (std::vector<int64_t>{1}));
  EXPECT_EQ(module.aliases[0].parameter, 2);
}

TEST(HloText, UnfoldsShortFormsOfElementsAndAsynchronousOperations) {
  const HloModule module = fromText(
      entryWith("  %t = (f32[8,128]{1,0}, (s32[], s32[])) tuple(%x, %n)\n  %a = f32[8,128] add(%t#0, %t#0)\n"
                "  %b = s32[] add(%t#1#0, %n)\n"
                "  %s = ((f32[8,128]), f32[4,128]{1,0:S(1)}, u32[]) slice-start(%a), slice={[0:4], [0:128]}, "
                "metadata={op_name=\"s\"}\n  ROOT %d = f32[4,128]{1,0:S(1)} slice-done(%s)\n"));
  const Computation& entry = module.entryComputation();
  ASSERT_EQ(entry.instructions.size(), 10u);
  EXPECT_EQ(entry.at(3).opcode, "get-tuple-element");
  EXPECT_EQ(entry.at(4).operands, (std::vector<int32_t>{3, 3})) << "one element, used twice";
  EXPECT_EQ(toString(entry.at(6).shape), "s32[]");
  const Instruction& start = entry.at(8);
  EXPECT_EQ(start.opcode, "async-start");
  EXPECT_EQ(entry.at(9).opcode, "async-done");
  ASSERT_EQ(start.called.size(), 1u);
  const Computation& wrapped = module.at(start.called[0]);
  EXPECT_EQ(wrapped.at(wrapped.root).opcode, "slice");
  EXPECT_EQ(wrapped.at(wrapped.root).slice.size(), 2u);
  EXPECT_EQ(wrapped.at(0).opcode, "parameter");
  EXPECT_TRUE(start.slice.empty());
}

TEST(HloText, EveryFaultHasItsPlace) {
  const auto in_entry = [](const std::string& line) { return errorOf(entryWith("  " + line + "\n")); };
  EXPECT_EQ(errorOf("module {}"),
            "f.txt:1:1: expected HloModule, found \"module {}\"\n"
            "  hint: optimised HLO, as XLA dumps it or compiled.as_text() prints it");
  EXPECT_EQ(errorOf("HloModule m\n"),
            "f.txt:2:1: no ENTRY among 0 computations\n"
            "  hint: the text was cut: dump or copy the whole module");
  EXPECT_EQ(in_entry("%y = f32[8 add(%x)"), "f.txt:6:14: expected ',' or ']', found \"add(%x)\"");
  EXPECT_EQ(in_entry("%y = q7[8] add(%x)"), "f.txt:6:8: element type q7 is unknown");
  EXPECT_EQ(in_entry("%y = f32[-8] add(%x)"), "f.txt:6:12: a dimension of -8");
  EXPECT_EQ(in_entry("%y = f32[8,4]{0,0} add(%x)"),
            "f.txt:6:16: the layout's 2 numbers do not order the 2 dimensions");
  EXPECT_EQ(in_entry("%y = f32[8]{0:T(0)} add(%x)"), "f.txt:6:19: a tile of size 0");
  EXPECT_EQ(in_entry("%y = f32[8]{0:Q(0)} add(%x)"),
            "f.txt:6:17: expected a part of a layout (T, S, E, L, D, M, P, SC, '#' or '*') or '}', found "
            "\"Q(0)} add(%x)\"");
  EXPECT_EQ(in_entry("%y = f32[8] add(%z)"), "f.txt:6:19: operand z does not stand above its user");
  EXPECT_EQ(in_entry("%y = f32[8] call(%x), to_apply=%f"),
            "f.txt:6:34: computation f does not stand above its caller");
  EXPECT_EQ(in_entry("%x = f32[8] copy(%n)"), "f.txt:6:3: instruction x is given twice");
  EXPECT_EQ(in_entry("%y = f32[8] constant({1, 2})"),
            "f.txt:6:23: a constant of 2 elements, its shape has 8");
  EXPECT_EQ(in_entry("%y = s32[] constant(a)"), "f.txt:6:23: expected an element of s32");
  EXPECT_EQ(in_entry("%y = f32[8] copy(%x), control-predecessors={%q}"),
            "f.txt:6:47: control predecessor q does not exist");
  EXPECT_EQ(in_entry("%y = f32[8] copy(%x#2)"), "f.txt:6:22: element 2 of a shape of 0");
  EXPECT_EQ(in_entry("%y = f32[8] copy(%x), window={size=3 pad=1_1x1_1}"),
            "f.txt:6:32: a window of 1 sizes and 2 numbers of pad");
  EXPECT_EQ(in_entry("%y = f32[8] copy(%x), dim_labels=b0f_0io-b0f"),
            "f.txt:6:36: expected labels as b01f_01io->b01f");
  EXPECT_EQ(in_entry("%y = f32[8] copy-start-start(%x)"),
            "f.txt:7:1: the copy-start-start above has no shape of ((operands), result)");
  EXPECT_EQ(errorOf(entryWith("") + "ENTRY %b { %y = s32[] parameter(0) }"), "f.txt:7:1: a second ENTRY");
  EXPECT_EQ(errorOf(entryWith("") + "HloModule n"),
            "f.txt:7:1: a second module begins here: give each its own file");
  EXPECT_EQ(errorOf("HloModule m\nStackFrames\n2 {}"),
            "f.txt:3:1: entry 2 of StackFrames stands where 1 is due");
}

TEST(HloText, ATupleNestsAtMost64Deep) {
  const std::string deep = std::string(100'000, '(') + "f32[]";
  EXPECT_EQ(errorOf(entryWith("  %y = " + deep)), "f.txt:6:73: a tuple nested deeper than 64");
  EXPECT_NE(errorOf(entryWith("  %y = s32[] constant(" + std::string(100'000, '{'))), "read");
  EXPECT_NE(errorOf(entryWith("  %y = s32[] copy(%n), sharding=" + std::string(100'000, '{'))), "read");
}

TEST(HloText, CutAnywhereItIsAnErrorOrEarlierText) {
  const std::string whole = entryWith(
      "  %c = f32[4]{0:T(128)} constant({1, 2, 3, 4}), metadata={op_name=\"a/b\" source_line=3}\n"
      "  ROOT %y = (f32[8,128]{1,0:T(8,128)S(1)}, s32[]) custom-call(%x, /*index=1*/%n), "
      "custom_call_target=\"t\", backend_config={\"k\":[1,\"}\"]}, sharding={devices=[2,1]<=[2]}\n");
  ASSERT_EQ(errorOf(whole), "read");
  for (size_t length = 0; length + 2 < whole.size(); ++length) {
    const std::string error = errorOf(whole.substr(0, length));
    EXPECT_TRUE(error.starts_with("f.txt:")) << length << ": " << error;
  }
}

TEST(HloFile, TellsTextProtoAndMessagesAround) {
  const std::string module = loopModule(0, 3, 1);
  for (const std::string& proto : {bytes(1, "m") + bytes(2, "main") + module.substr(6), bytes(1, module)}) {
    EXPECT_EQ(formOf(bytes(1, bytes(1, "m") + bytes(2, "main"))), HloForm::kProto);
    const Result<HloModule> read = readHloFile(proto, "f.pb");
    ASSERT_TRUE(read.ok()) << read.error().text();
    EXPECT_EQ(read->computations.size(), 3u);
  }
  EXPECT_EQ(readHloFile(bytes(1, bytes(1, module)), "f.pb")->name, "test") << "a snapshot";
  EXPECT_EQ(formOf(entryWith("")), HloForm::kText);
  EXPECT_EQ(formOf("// a comment\nHloModule m\n"), HloForm::kText);
  EXPECT_EQ(formOf("module @jit_f {}"), HloForm::kNone);
  EXPECT_EQ(formOf("\n\n\nsome text"), HloForm::kNone);
  EXPECT_EQ(formOf(""), HloForm::kNone);
  const auto error = readHloFile("module @jit_f {}", "f.mlir");
  ASSERT_FALSE(error.ok());
  EXPECT_EQ(error.error().message(), "f.mlir: neither the text of an HLO module nor its proto (16 bytes)");
}

}  // namespace
}  // namespace sublane::llo
