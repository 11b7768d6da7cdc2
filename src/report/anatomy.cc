#include "report/anatomy_of.h"

#include <algorithm>
#include <map>

namespace sublane::report {
namespace {

std::optional<Unit> unitOf(llo::Unit unit) {
  switch (unit) {
    case llo::Unit::kScalar:
      return Unit::kScalar;
    case llo::Unit::kVectorAlu:
      return Unit::kVectorAlu;
    case llo::Unit::kVectorLoad:
      return Unit::kVectorLoad;
    case llo::Unit::kVectorStore:
      return Unit::kVectorStore;
    case llo::Unit::kExtended:
      return Unit::kExtended;
    case llo::Unit::kCrossLane:
      return Unit::kCrossLane;
    case llo::Unit::kMatrix:
      return Unit::kMatrix;
    default:
      return std::nullopt;  // no slots of their own
  }
}

std::array<double, kUnits> slotsByUnit(const sim::ChipModel& model) {
  const sim::Slots slots = sim::slotsOf(model);
  return {slots.scalar,   slots.vector_alu, slots.load,  slots.store,
          slots.extended, slots.cross_lane, slots.matrix};
}

int64_t at(const Issued& issued, Unit unit) { return issued[static_cast<size_t>(unit)]; }

/// The loops of a listing: what lies between a branch back, its delay slots included, and its target. (The
/// depth that a listing prints is left out of bundles here and there.) Fills each bundle's innermost one.
std::vector<LoopUse> loopsOf(const llo::Listing& listing, int delay_slots, std::vector<BundleUse>& bundles) {
  std::map<int32_t, int32_t> last_of;  // by the first bundle
  for (size_t b = 0; b < listing.bundles.size(); ++b) {
    for (const llo::BundleInstruction& i : listing.of(listing.bundles[b])) {
      if (i.target < 0 || i.target > static_cast<int32_t>(b)) continue;
      const size_t end = std::min(b + static_cast<size_t>(delay_slots), listing.bundles.size() - 1);
      last_of[i.target] = std::max(last_of[i.target], static_cast<int32_t>(end));
    }
  }
  std::vector<LoopUse> loops;
  std::vector<int32_t> open;
  for (const auto& [first, last] : last_of) {
    while (!open.empty() && loops[static_cast<size_t>(open.back())].last < first) open.pop_back();
    const int32_t parent = open.empty() ? -1 : open.back();
    loops.push_back({.parent = parent,
                     .first = first,
                     .last = parent < 0 ? last : std::min(last, loops[static_cast<size_t>(parent)].last)});
    open.push_back(static_cast<int32_t>(loops.size()) - 1);
    for (int32_t b = first; b <= loops.back().last; ++b) bundles[static_cast<size_t>(b)].loop = open.back();
  }
  return loops;
}

class AnatomyMaker {
 public:
  AnatomyMaker(const AnatomySource& source) : source_(source) {
    for (size_t i = 0; i < source.run.ops.size(); ++i)
      row_of_[source.run.ops[i].traced] = static_cast<int32_t>(i);
  }

  Anatomy make() {
    anatomy_.units = units();
    anatomy_.limits = limits();
    for (const sim::ListingProfile& profile : source_.run.listings)
      anatomy_.kernels.push_back(kernelOf(profile));
    std::vector<int32_t> listings;  // of the kernels
    for (const sim::ListingProfile& profile : source_.run.listings) listings.push_back(profile.listing);
    sortKernels(listings);
    for (const sim::TransferProfile& use : source_.run.transfer_uses)
      anatomy_.transfers.push_back(transferOf(use, listings));
    for (const sim::Stretch& stretch : source_.run.timeline)
      anatomy_.timeline.push_back({rowOf(stretch.traced), stretch.begin, stretch.end});
    return std::move(anatomy_);
  }

 private:
  int32_t rowOf(int32_t traced) const {
    const auto found = row_of_.find(traced);
    return found == row_of_.end() ? -1 : found->second;
  }

  std::vector<UnitUse> units() const {
    const std::array<double, kUnits> slots = slotsByUnit(source_.model);
    std::vector<UnitUse> units;
    for (size_t u = 0; u < kUnits; ++u) {
      UnitUse use{.unit = name(static_cast<Unit>(u)), .slots = slots[u], .cycles = source_.run.cycles};
      for (const SimulatedRow& row : source_.step.rows) use.issued += row.issued[u];
      units.push_back(use);
    }
    return units;
  }

  std::vector<LimitUse> limits() const {
    const SimulatedStep& step = source_.step;
    int64_t flops = 0, registers = 0, unknown = 0;
    for (const SimulatedRow& row : step.rows) {
      // Of a kernel, what its author says it computes.
      const bool kernel = row.row.matmul_flops == 0 && row.row.mxu_us > 0;
      if (!row.row.flops && at(row.issued, Unit::kMatrix) > 0) ++unknown;
      flops += kernel ? row.row.flops.value_or(0) : row.row.matmul_flops;
      registers += at(row.issued, Unit::kVectorLoad) + at(row.issued, Unit::kVectorStore);
    }
    const std::array<double, kUnits> slots = slotsByUnit(source_.model);
    const double vmem =
        (slots[static_cast<size_t>(Unit::kVectorLoad)] + slots[static_cast<size_t>(Unit::kVectorStore)]) *
        static_cast<double>(kRegisterBytes) * source_.model.clock_hz;
    std::vector<LimitUse> limits = {
        {.limit = "hbm",
         .amount = step.hbm_read_bytes + step.hbm_write_bytes,
         .per_second = source_.chip.hbm_bytes_per_second /
                       static_cast<double>(std::max<int64_t>(1, source_.chip.cores_per_device)),
         .us = step.hbm_us},
        {.limit = "mxu",
         .amount = flops,
         .per_second = source_.chip.bf16_flops,
         .us = step.mxu_us,
         .unknown_rows = unknown},
        {.limit = "vmem",
         .amount = registers * kRegisterBytes,
         .per_second = vmem,
         .limit_origin = Origin::kCompiler,
         .us = 1e6 * static_cast<double>(registers * kRegisterBytes) / vmem}};
    for (LimitUse& limit : limits) limit.share = step.us > 0 ? limit.us / step.us : 0;
    return limits;
  }

  KernelUse kernelOf(const sim::ListingProfile& profile) const {
    const llo::Listing& listing = source_.program.listings[static_cast<size_t>(profile.listing)];
    KernelUse kernel{.name = listing.function, .causes = profile.waits};
    for (const int32_t traced : profile.traced) kernel.rows.push_back(rowOf(traced));
    double slowest = -1;
    for (const int32_t row : kernel.rows) {
      if (row < 0) continue;
      const Row& described = source_.step.rows[static_cast<size_t>(row)].row;
      if (described.us > slowest) kernel.source = described.source;
      slowest = std::max(slowest, described.us);
    }
    for (const llo::Allocation& allocation : listing.allocations) {
      if (allocation.space == llo::Space::kVmem) kernel.vmem_bytes += allocation.bytes;
      if (allocation.spill) kernel.spill_bytes += allocation.bytes;
    }
    kernel.bundles.resize(listing.bundles.size());
    kernel.loops = loopsOf(listing, source_.model.branch_delay_slots, kernel.bundles);
    for (size_t b = 0; b < listing.bundles.size(); ++b) addBundle(listing, profile, b, kernel);
    return kernel;
  }

  void addBundle(const llo::Listing& listing, const sim::ListingProfile& profile, size_t b,
                 KernelUse& kernel) const {
    BundleUse& bundle = kernel.bundles[b];
    bundle.executions = profile.executions[b];
    bundle.waited = profile.waited[b];
    bundle.cause = profile.causes[b];
    if (source_.bundle_texts) bundle.text = llo::toText(listing, listing.bundles[b]);
    const int64_t cycles = bundle.executions + bundle.waited;
    kernel.cycles += cycles;
    kernel.causes[static_cast<size_t>(bundle.cause)] += bundle.executions;
    Issued issued{};
    int64_t trace_marks = 0;
    for (const llo::BundleInstruction& i : listing.of(listing.bundles[b])) {
      trace_marks += i.op == llo::Op::kVtrace ? bundle.executions : 0;
      if (const std::optional<Unit> unit = unitOf(llo::unitOf(i.op)))
        issued[static_cast<size_t>(*unit)] += bundle.executions;
    }
    for (size_t u = 0; u < kUnits; ++u) kernel.issued[u] += issued[u];
    for (int32_t l = bundle.loop; l >= 0; l = kernel.loops[static_cast<size_t>(l)].parent) {
      LoopUse& loop = kernel.loops[static_cast<size_t>(l)];
      if (loop.first == static_cast<int32_t>(b)) loop.iterations = bundle.executions;
      loop.cycles += cycles;
      loop.causes[static_cast<size_t>(bundle.cause)] += bundle.executions;
      if (bundle.waited > 0) loop.causes[static_cast<size_t>(events::Cause::kDma)] += bundle.waited;
      for (size_t u = 0; u < kUnits; ++u) loop.issued[u] += issued[u];
      loop.trace_marks += trace_marks;
    }
  }

  void sortKernels(std::vector<int32_t>& listings) {
    std::vector<size_t> order(listings.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return anatomy_.kernels[a].cycles > anatomy_.kernels[b].cycles;
    });
    std::vector<KernelUse> kernels;
    std::vector<int32_t> sorted;
    for (const size_t i : order) {
      kernels.push_back(std::move(anatomy_.kernels[i]));
      sorted.push_back(listings[i]);
    }
    anatomy_.kernels = std::move(kernels);
    listings = std::move(sorted);
  }

  TransferUse transferOf(const sim::TransferProfile& use, const std::vector<int32_t>& listings) const {
    const auto kernel = std::find(listings.begin(), listings.end(), use.listing);
    return {.row = rowOf(use.traced),
            .kernel = kernel == listings.end() ? -1 : static_cast<int32_t>(kernel - listings.begin()),
            .bundle = use.bundle,
            .from = llo::name(use.from),
            .to = llo::name(use.to),
            .count = use.count,
            .bytes = use.bytes,
            .pieces = use.runs,
            .flight_cycles = use.flight_cycles,
            .waited_cycles = use.waited_cycles,
            .remote = use.remote};
  }

  const AnatomySource& source_;
  std::map<int32_t, int32_t> row_of_;
  Anatomy anatomy_;
};

}  // namespace

std::string_view name(Unit unit) {
  static constexpr std::string_view kNames[] = {"scalar", "valu", "vld", "vst", "eup", "xlu", "mxu"};
  return kNames[static_cast<size_t>(unit)];
}

Issued issuedOf(const llo::UnitCounts& counts) {
  Issued issued{};
  for (size_t u = 0; u < counts.size(); ++u) {
    if (const std::optional<Unit> unit = unitOf(static_cast<llo::Unit>(u)))
      issued[static_cast<size_t>(*unit)] += counts[u];
  }
  return issued;
}

Anatomy anatomyOf(const AnatomySource& source) { return AnatomyMaker(source).make(); }

}  // namespace sublane::report
