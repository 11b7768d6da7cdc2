#include <fmt/ranges.h>

#include <cctype>
#include <charconv>
#include <map>
#include <optional>

#include "graph/infer.h"
#include "graph/text_cursor.h"
#include "graph/text_form.h"
#include "graph/text_words.h"

namespace sublane::graph {

namespace {

constexpr int kDeepestLoop = 32;
constexpr size_t kHighestRank = 16;

/// The value of one attribute: a list, or a word or number as written.
struct Written {
  size_t at = 0;
  std::string_view key, word;
  std::optional<std::vector<int64_t>> list;
  bool used = false;
};

template <class Number>
bool convert(std::string_view text, Number& out) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

/// Gives written attributes to the fields of Attrs; complains about what is missing or left.
class AttrsReader {
 public:
  AttrsReader(Cursor& in, size_t at, std::vector<Written>& written) : in_(in), at_(at), written_(written) {}

  bool number(std::string_view key, double& out, bool needed = true) {
    Written* found = find(key, needed);
    if (!found) return !needed;
    return (!found->list && convert(found->word, out)) ||
           in_.fault(found->at, fmt::format("{} must be a number", key));
  }
  bool integer(std::string_view key, int64_t& out, bool needed = true) {
    Written* found = find(key, needed);
    if (!found) return !needed;
    return (!found->list && convert(found->word, out)) ||
           in_.fault(found->at, fmt::format("{} must be an integer", key));
  }
  bool list(std::string_view key, std::vector<int64_t>& out) {  // not written: empty
    Written* found = find(key, false);
    if (!found) return true;
    if (!found->list) return in_.fault(found->at, fmt::format("{} must be a list of integers", key));
    out = *found->list;
    return true;
  }
  /// The index of the word among `words`.
  template <size_t N>
  bool choice(std::string_view key, const std::array<std::string_view, N>& words, size_t& out, bool needed) {
    Written* found = find(key, needed);
    if (!found) return !needed;
    for (out = 0; out < N; ++out)
      if (found->word == words[out]) return true;
    return in_.fault(found->at, fmt::format("{} must be one of {}", key, fmt::join(words, ", ")));
  }
  bool finish() {
    for (const Written& attribute : written_)
      if (!attribute.used)
        return in_.fault(attribute.at,
                         fmt::format("attribute \"{}\" is not known here or written twice", attribute.key));
    return true;
  }

 private:
  Written* find(std::string_view key, bool needed) {
    for (Written& attribute : written_)
      if (attribute.key == key && !attribute.used) {
        attribute.used = true;
        return &attribute;
      }
    if (needed) in_.fault(at_, fmt::format("attribute \"{}\" is missing", key));
    return nullptr;
  }
  Cursor& in_;
  size_t at_;
  std::vector<Written>& written_;
};

/// The attributes that `op` takes. Each alternative of Attrs is read by one case.
bool readAttrs(AttrsReader& in, Op op, Attrs& out) {
  if (op == Op::kLoop) {
    LoopAttrs& loop = out.emplace<LoopAttrs>();
    return in.integer("count", loop.count) && in.integer("carried", loop.carried, false) &&
           in.integer("invariants", loop.invariants, false) && in.integer("stacked", loop.stacked, false) &&
           in.finish();
  }
  static constexpr std::array<std::string_view, 1> kPrecisions = {"highest"};
  size_t choice = 0;
  switch (attrsKind(op)) {
    case 1:
      return in.number("value", out.emplace<ScalarAttrs>().value) && in.finish();
    case 2:
      return in.integer("axis", out.emplace<AxisAttrs>().axis) && in.finish();
    case 3:
      return in.list("dims", out.emplace<DimsAttrs>().dims) && in.finish();
    case 4:
      if (!in.choice("direction", kComparisonWords, choice, true)) return false;
      out = CompareAttrs{static_cast<Comparison>(choice)};
      return in.finish();
    case 5: {
      SliceAttrs& slice = out.emplace<SliceAttrs>();
      return in.list("starts", slice.starts) && in.list("limits", slice.limits) && in.finish();
    }
    case 6: {
      DotAttrs& dot = out.emplace<DotAttrs>();
      choice = kPrecisions.size();
      if (!in.list("lhs_batch", dot.lhs_batch) || !in.list("rhs_batch", dot.rhs_batch) ||
          !in.list("lhs_contract", dot.lhs_contract) || !in.list("rhs_contract", dot.rhs_contract) ||
          !in.choice("precision", kPrecisions, choice, false))
        return false;
      dot.highest_precision = choice == 0;
      return in.finish();
    }
    case 7: {
      AttentionAttrs& attention = out.emplace<AttentionAttrs>();
      return in.number("scale", attention.scale) && in.number("soft_cap", attention.soft_cap, false) &&
             in.finish();
    }
    default:
      return in.finish();
  }
}

class Parser {
 public:
  Parser(Cursor& in, int depth) : in_(in), depth_(depth) {}

  /// `graph name { statements }`; a statement that can't be read costs its line only.
  bool run(Graph& graph) {
    graph_ = &graph;
    if (!in_.takeWord("graph")) return in_.expected("\"graph\"");
    graph.name = in_.word();
    if (graph.name.empty()) return in_.expected("the graph's name");
    if (!in_.take('{')) return in_.expected("'{'");
    while (!in_.take('}')) {
      if (in_.atEnd() || in_.full()) return in_.expected("'}'");
      size_t start = in_.position();
      if (!statement()) in_.skipLine();
      if (in_.position() == start) in_.advance(1);
    }
    return true;
  }

 private:
  bool statement() {
    if (in_.peek() == '%') return definition();
    if (in_.takeWord("output")) return output();
    return in_.expected("a value or \"output\"");
  }

  bool integer(int64_t& out, const char* what) {
    size_t start = (in_.peek(), in_.position());
    std::string_view digits = in_.word([](char c) { return c == '-' || (c >= '0' && c <= '9'); });
    if (digits.empty()) return in_.expected(what);
    return convert(digits, out) ||
           in_.fault(start, fmt::format("\"{}\" is not an integer of 64 bits", digits));
  }
  bool integers(std::vector<int64_t>& out) {  // after '['
    while (!in_.take(']')) {
      if (!out.empty() && !in_.take(',')) return in_.expected("',' or ']'");
      if (!integer(out.emplace_back(), "an integer")) return false;
    }
    return true;
  }
  bool string(std::string& out) {
    if (!in_.take('"')) return in_.expected("a name in quotes");
    size_t start = in_.position() - 1;
    std::string_view rest = in_.rest();
    for (size_t i = 0; i < rest.size() && rest[i] != '\n'; ++i) {
      if (rest[i] == '"') return in_.advance(i + 1), true;
      if (rest[i] != '\\') {
        out += rest[i];
      } else if (i + 3 < rest.size() && rest[i + 1] == 'x') {
        unsigned code = 0;
        auto [end, error] = std::from_chars(rest.data() + i + 2, rest.data() + i + 4, code, 16);
        if (error != std::errc() || end != rest.data() + i + 4)
          return in_.fault(start + 1 + i, "\\x needs two hex digits");
        out += static_cast<char>(code);
        i += 3;
      } else if (i + 1 < rest.size()) {
        out += rest[++i];
      }
    }
    return in_.fault(start, "the name's quotes don't close on this line");
  }
  bool type(Type& out) {
    size_t start = (in_.peek(), in_.position());
    std::string_view word = in_.word([](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; });
    int index = 0, last = static_cast<int>(DType::kBool);
    while (index <= last && formats::name(static_cast<DType>(index)) != word) ++index;
    if (index > last) return in_.fault(start, fmt::format("\"{}\" is not a number type", word));
    out.dtype = static_cast<DType>(index);
    if (!in_.take('[')) return in_.expected("'['");
    if (!integers(out.shape)) return false;
    if (out.shape.size() > kHighestRank)
      return in_.fault(start, fmt::format("rank {} is above {}", out.shape.size(), kHighestRank));
    return true;
  }
  bool number(int64_t& out) {
    if (!in_.take('%')) return in_.expected("a value like %7");
    return integer(out, "the value's number");
  }
  bool reference(ValueId& out) {
    size_t start = (in_.peek(), in_.position());
    int64_t written = 0;
    if (!number(written)) return false;
    auto found = values_.find(written);
    if (found == values_.end()) return in_.fault(start, fmt::format("%{} is not defined before", written));
    out = found->second;
    return true;
  }
  bool define(ValueId& out) {
    size_t start = (in_.peek(), in_.position());
    int64_t written = 0;
    Type type;
    if (!number(written)) return false;
    if (!in_.take(':')) return in_.expected("':'");
    bool typed = this->type(type);
    out = graph_->addValue(std::move(type));
    if (!values_.emplace(written, out).second)
      return in_.fault(start, fmt::format("%{} is defined twice", written));
    return typed;
  }

  /// `%7: f32[8] = ...`: a parameter or a node.
  bool definition() {
    std::vector<ValueId> results;
    do {
      if (!define(results.emplace_back())) return false;
    } while (in_.take(','));
    if (!in_.take('=')) return in_.expected("'='");
    size_t start = (in_.peek(), in_.position());
    std::string_view word = in_.word();
    for (size_t role = 0; role < kRoleWords.size(); ++role)
      if (word == kRoleWords[role]) return parameter(static_cast<Role>(role), results, start);
    for (int op = 0; op < kOpCount; ++op)
      if (word == name(static_cast<Op>(op))) return node(static_cast<Op>(op), std::move(results), start);
    return in_.fault(start, fmt::format("\"{}\" is not an operation", word));
  }

  bool parameter(Role role, const std::vector<ValueId>& results, size_t start) {
    if (results.size() != 1) return in_.fault(start, "a parameter is one value");
    Parameter parameter{"", role, results[0]};
    if (!string(parameter.name)) return false;
    graph_->parameters.push_back(std::move(parameter));
    return true;
  }

  bool node(Op op, std::vector<ValueId> results, size_t start) {
    Node node{op, {}, std::move(results), {}, {}, nullptr};
    if (in_.take('(')) {
      while (!in_.take(')')) {
        if (!node.operands.empty() && !in_.take(',')) return in_.expected("',' or ')'");
        if (!reference(node.operands.emplace_back())) return false;
      }
    }
    std::vector<Written> written;
    if (in_.take('{') && !attributes(written)) return false;
    AttrsReader reader(in_, start, written);
    if (!readAttrs(reader, op, node.attrs)) return false;
    if (in_.take('@') && !place(node.place)) return false;
    if (op == Op::kLoop && in_.peek() == 'g' && !body(node)) return false;
    graph_->nodes.push_back(std::move(node));
    return true;
  }

  bool attributes(std::vector<Written>& out) {  // after '{'
    while (!in_.take('}')) {
      if (!out.empty() && !in_.take(',')) return in_.expected("',' or '}'");
      Written& attribute = out.emplace_back();
      attribute.at = (in_.peek(), in_.position());
      attribute.key = in_.word();
      if (attribute.key.empty()) return in_.expected("an attribute");
      if (!in_.take('=')) return in_.expected("'='");
      if (in_.take('[')) {
        if (!integers(attribute.list.emplace())) return false;
        continue;
      }
      attribute.word = in_.word([](char c) { return isWordChar(c) || c == '+'; });
      if (attribute.word.empty()) return in_.expected("the attribute's value");
    }
    return true;
  }

  bool place(Place& out) {
    in_.skipSpaces();
    size_t start = in_.position();
    std::string_view text = in_.rest();
    size_t length = 0;
    while (length < text.size() && (isWordChar(text[length]) || text[length] == '*' || text[length] == '/'))
      ++length;
    if (length == 0) return in_.expected("a place like layer.3/mlp.up");
    in_.advance(length);
    text = text.substr(0, length);
    size_t slash = text.find('/');
    if (slash == text.npos) return out.part = text, true;
    std::string_view layer = text.substr(0, slash);
    out.part = text.substr(slash + 1);
    out.layer = Place::kEveryLayer;
    if (layer == "layer.*") return true;
    if (layer.substr(0, 6) == "layer." && convert(layer.substr(6), out.layer) && out.layer >= 0) return true;
    return in_.fault(start, fmt::format("\"{}\" is not a layer like layer.3 or layer.*", layer));
  }

  bool body(Node& node) {
    if (depth_ >= kDeepestLoop) return in_.expected(fmt::format("loops at most {} deep", kDeepestLoop));
    node.body = std::make_shared<Graph>();
    return Parser(in_, depth_ + 1).run(*node.body);
  }

  bool output() {
    Output output;
    if (!string(output.name)) return false;
    if (!in_.take('=')) return in_.expected("'='");
    if (!reference(output.value)) return false;
    if (in_.takeWord("aliases")) {
      size_t start = (in_.peek(), in_.position());
      ValueId state = -1;
      if (!reference(state)) return false;
      for (size_t i = 0; i < graph_->parameters.size(); ++i)
        if (graph_->parameters[i].value == state) output.aliased_parameter = static_cast<int32_t>(i);
      if (output.aliased_parameter < 0) return in_.fault(start, "aliases a value that is not a parameter");
    }
    graph_->outputs.push_back(std::move(output));
    return true;
  }

  Cursor& in_;
  int depth_;
  Graph* graph_ = nullptr;
  std::map<int64_t, ValueId> values_;
};

}  // namespace

Result<Graph> parse(std::string_view text) {
  Cursor in(text);
  Graph graph;
  if (Parser(in, 0).run(graph) && !in.atEnd()) in.expected("the end of the text");
  if (in.faults().empty()) return graph;
  return inputError("{}", fmt::join(in.faults(), "\n"));
}

}  // namespace sublane::graph
