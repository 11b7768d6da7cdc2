// The reader behind readHloText: one pass, one function for each rule of the grammar; private to the folder.
// A rule that finds a fault tells the cursor, which then is at its end.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "llo/decode.h"
#include "llo/hlo_cursor.h"
#include "llo/llo.h"

namespace sublane::llo {

/// "bf16[8,576]{1,0:T(8,128)(2,1)S(1)}", or a tuple in parentheses. `budget` is what remains of the shapes
/// that a module may hold.
Shape readShapeText(HloCursor& cursor, int64_t& budget);
/// "constant(": the elements up to and with ')'. Sets `constant` and `literal` as the proto's reader does.
void readLiteralText(HloCursor& cursor, Instruction& to);
/// replica_groups in its three spellings: the group that device 0 is in.
void readGroupText(HloCursor& cursor, std::vector<int64_t>& group);
/// source_target_pairs.
void readPairsText(HloCursor& cursor, std::vector<int64_t>& group);

class HloTextReader {
 public:
  HloTextReader(std::string_view text, const std::string& where) : cursor_(text, where) {}
  Result<HloModule> read() &&;

 private:
  using Rule = void (HloTextReader::*)(Instruction&);
  struct Attribute {
    std::string_view name;
    Rule rule;
  };
  struct Control {  // a predecessor, looked up when its computation is complete
    int32_t instruction;
    std::string_view name;
    const char* place;
  };

  // hlo_text_module.cc
  void header();
  void moduleAliases();
  void table(std::string_view name);
  void computation(std::string_view name, bool is_entry);
  void instruction();
  void operands(Instruction& to);
  void operand(Instruction& to);
  int32_t element(const char* name, int32_t tuple);
  void linkControls();
  int32_t add(Computation computation);
  // hlo_text_async.cc
  void unwrapAsync(Instruction& to);
  void wrapStarted(Instruction& to, std::string_view opcode);
  // hlo_text_attributes.cc
  static const Attribute kAttributes[];
  void attributes(Instruction& to);
  void called(Instruction& to);
  void calledFirst(Instruction& to);
  void controls(Instruction& to);
  void metadata(Instruction& to);
  void backendConfig(Instruction& to);
  void fusionKind(Instruction& to);
  void customCallTarget(Instruction& to);
  void direction(Instruction& to);
  void tupleIndex(Instruction& to);
  void dimensions(Instruction& to);
  void iotaDimension(Instruction& to);
  void sliceSizes(Instruction& to);
  void slice(Instruction& to);
  void window(Instruction& to);
  void dimLabels(Instruction& to);
  void lhsContract(Instruction& to);
  void rhsContract(Instruction& to);
  void lhsBatch(Instruction& to);
  void rhsBatch(Instruction& to);
  void featureGroups(Instruction& to);
  void batchGroups(Instruction& to);
  void precision(Instruction& to);
  void aliases(Instruction& to);
  void replicaGroups(Instruction& to);
  void sourceTargets(Instruction& to);
  void prefetchIndex(Instruction& to);
  void prefetchFlag(Instruction& to);

  HloCursor cursor_;
  HloModule module_;
  StackFrames frames_;
  Computation current_;
  bool has_root_ = false;
  std::unordered_map<std::string_view, int32_t> computations_,
      instructions_;  // by name, which is in the text
  std::vector<Control> controls_;
  int64_t next_id_ = 0, instructions_left_ = 2'000'000, shapes_left_ = 8'000'000;
  int64_t stack_frame_ = 0;  // of the instruction that is being read
};

}  // namespace sublane::llo
