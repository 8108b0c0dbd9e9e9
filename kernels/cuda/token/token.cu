// launch_token: the table of phases and the kernel for a head size. token_kernel.cuh has the rest.
#include "kernels/cuda/attention/row_attention.cuh"
#include "kernels/cuda/linear/launch.cuh"
#include "kernels/cuda/token/session_rows.cuh"
#include "kernels/cuda/token/stage_ring.cuh"
#include "kernels/cuda/token/token_phase.h"

namespace inlay::cuda {
namespace {

constexpr int kMaxTokenHead = 128;
constexpr int kBytesAhead =
    52 * 1024;  // of weights under way in a CTA, two stages at least: less does not fill the memory, more delays values

int aligned(int n) { return (n + 127) / 128 * 128; }

// Shared memory that the phases want: x and the parts of a product, or an attention's; then the ring.
struct TokenMemory {
  int x = 0, parts = 0, attention = 0;
  int stage = 0, least_stage = 1 << 20;
  int records = 0;  // of several rows' x
};

int32_t chunks_of(int64_t n_cols) { return static_cast<int32_t>((n_cols + kChunkCols - 1) / kChunkCols); }

// Before the records of a product's x.
size_t token_flag_bytes(int64_t n_cols) {
  return static_cast<size_t>(chunks_of(n_cols)) * kFlagStride * sizeof(uint32_t);
}

// Barriers between groups of tiles are few where every thread has a result: of 16 tiles of a row, two of eight. Of a
// row that has more of them eight are enough, for groups that follow one another have two sets of parts. Pairs are not
// parted. A gate and its up make one result, so there is room for twice as many tiles; they are taken where
// tiles do not end with a chunk of every warp, or some warps would wait at each barrier. (Elsewhere the ring's memory
// is worth more.)
int32_t group_bits_of(const LinearArgs& a, int32_t most_tiles) {
  if (a.m == 1) return most_tiles <= 16 ? 4 : 3;
  const int32_t bits = a.m == 2 ? 3 : a.m <= 4 ? 2 : 1;
  return a.epilogue == Epilogue::gate_up && chunks_of(a.n_cols) % kParts != 0 ? bits + 1 : bits;
}

// Records of x that there is room for in shared memory: of a norm's rows all, whose squares have to be there at once.
int32_t records_of(const TokenOp* ops, int32_t n_ops) {
  int32_t most = kLeastRecords;
  for (int32_t i = 0; i < n_ops; ++i) {
    const LinearArgs& a = ops[i].linear;
    if (ops[i].kind != TokenOp::Kind::linear || a.norm_weight == nullptr) continue;
    if (chunks_of(a.n_cols) > most) most = chunks_of(a.n_cols);
  }
  return most;
}

// Whether x streams by, and for two tiles at a time.
bool come_in_pairs(const LinearArgs& a, int32_t n_records) {
  const int32_t n_chunks = chunks_of(a.n_cols);
  return a.m > 1 && n_chunks > n_records && n_chunks % kParts == 0;
}

bool takes(const LinearArgs& a) {
  if (a.raw == nullptr || a.m < 1 || a.m > kMostSessionRows || a.epilogue == Epilogue::up || a.dtype == DType::f32 ||
      !linear_takes_raw(a.dtype, a.n_cols))
    return false;
  if (a.activation != Activation::silu || a.factor != 1.0f || a.soft_cap != 0.0f) return false;
  const bool row_major = a.dtype == DType::f16 || a.dtype == DType::bf16;
  return !row_major || (a.m == 1 && a.n_cols % (kParts * kUnitCols) == 0);
}

bool takes(const DecodeAttentionArgs& a) {
  RowParams p;
  return a.m <= kMostSessionRows && a.variant.is_plain() && a.cache.kv_type == KvType::f16 &&
         a.cache.d_head <= kMaxTokenHead && decode_row_params(a, p) == cudaSuccess;
}

FewRowsParams cut(const LinearArgs& args, int32_t n_ctas, TokenMemory& memory) {
  return with_form(args.dtype, FewRowsParams{}, [&](auto tag) {
    constexpr DType kType = decltype(tag)::kType;
    FewRowsParams p = cut_few_rows<kType>(args);
    share_tiles(p, n_ctas);
    const int32_t most_tiles = p.cta_tiles + (p.n_longer > 0 ? 1 : 0);
    p.group_bits = group_bits_of(args, most_tiles), p.group_tiles = 1 << p.group_bits;
    const int x = args.m > 1 ? memory.records * ChunkRecord::kBytes : RawRowPlaces{p.args.x.n_chunks}.bytes();
    const int parts = parts_bytes_of(p) / (most_tiles <= p.group_tiles ? 2 : 1);
    if (x > memory.x) memory.x = x;
    if (parts > memory.parts) memory.parts = parts;
    if constexpr (kType != DType::f32) {
      constexpr int kStage = stage_bytes_of<kType>();
      if (kStage > memory.stage) memory.stage = kStage;
      if (kStage < memory.least_stage) memory.least_stage = kStage;
    }
    return p;
  });
}

TokenWeights weights_of(const TokenPhase& phase) {
  const FewRowsParams& few = phase.linear;
  const LinearArgs& a = few.args;
  TokenWeights w{};
  w.weights = static_cast<const uint8_t*>(a.weights);
  w.vectors[0] = a.norm_weight, w.vector_cols[0] = static_cast<int32_t>(a.n_cols);
  w.vectors[1] = a.bias;
  w.vector_cols[1] = static_cast<int32_t>(a.epilogue == Epilogue::gate_up ? a.n_rows / 2 : a.n_rows);
  w.n_chunks = few.n_chunks, w.cta_tiles = few.cta_tiles, w.n_longer = few.n_longer, w.first_cta = phase.first_cta;
  w.pairs = phase.pairs;
  w.dtype = a.dtype;
  return with_form(a.dtype, w, [&](auto tag) {
    constexpr DType kType = decltype(tag)::kType;
    const int64_t n_units = units_of(a.n_cols);
    w.tile_bytes = static_cast<int32_t>(Layout<kType>::tile_bytes(n_units));
    w.gap = w.tile_bytes - w.n_chunks * token_chunk_bytes<kType>();
    if constexpr (Layout<kType>::kScaled)
      w.missing = static_cast<int32_t>(w.n_chunks * kChunkUnits - n_units) * Layout<kType>::kUnitBytes;
    return w;
  });
}

int attention_bytes(int32_t d_head) {
  return static_cast<int>(d_head <= 64 ? sizeof(RowMemory<1, KvType::f16>) : sizeof(RowMemory<2, KvType::f16>));
}

// Whether what a CTA finds out for one attention holds for the other.
bool same_place(const DecodeAttentionArgs& a, const DecodeAttentionArgs& b) {
  const CacheView &c = a.cache, &d = b.cache;
  return a.n_heads == b.n_heads && c.n_kv_heads == d.n_kv_heads && c.d_head == d.d_head &&
         c.block_tables == d.block_tables && c.row_sequence == d.row_sequence && c.positions == d.positions &&
         c.max_blocks == d.max_blocks && c.block_tokens == d.block_tokens;
}

// -1: there is none.
int32_t first_attention(const TokenOp* ops, int32_t n_ops) {
  for (int32_t i = 0; i < n_ops; ++i) {
    if (ops[i].kind == TokenOp::Kind::attention) return i;
  }
  return -1;
}

bool same_x(const TokenOp& a, const TokenOp& b) {
  return a.kind == TokenOp::Kind::linear && b.kind == TokenOp::Kind::linear && a.linear.raw == b.linear.raw &&
         a.tag_in == b.tag_in && a.linear.norm_weight == b.linear.norm_weight && a.linear.raw_row == b.linear.raw_row &&
         activation_form(a.linear.dtype) == activation_form(b.linear.dtype);
}

// The kernels that there are; null: none for these types.
template <bool kSeveral>
TokenKernel kernel_for(DType a, DType b, int32_t d_head) {
  const auto is = [&](DType first, DType second) { return (a == first || a == second) && (b == first || b == second); };
  if (is(DType::q4_k, DType::q6_k)) return token_kernel_of<DType::q4_k, DType::q6_k, kSeveral>(d_head);
  if (is(DType::q8_0, DType::q8_0)) return token_kernel_of<DType::q8_0, DType::q8_0, kSeveral>(d_head);
  if constexpr (!kSeveral) {
    if (is(DType::f16, DType::f16)) return token_kernel_of<DType::f16, DType::f16, kSeveral>(d_head);
  }
  return nullptr;
}

int32_t rows_of(const TokenOp& op) { return op.kind == TokenOp::Kind::linear ? op.linear.m : op.attention.m; }

TokenKernel kernel_of(const TokenOp* ops, int32_t n_ops) {
  DType types[2];
  int n_types = 0;
  int32_t d_head = 0;
  for (int32_t i = 0; i < n_ops; ++i) {
    if (ops[i].kind == TokenOp::Kind::attention) {
      d_head = ops[i].attention.cache.d_head;
      continue;
    }
    const DType type = ops[i].linear.dtype;
    if ((n_types > 0 && types[0] == type) || (n_types > 1 && types[1] == type)) continue;
    if (n_types == 2) return nullptr;
    types[n_types++] = type;
  }
  if (n_types == 0) return nullptr;
  const DType a = types[0], b = types[n_types - 1];
  return rows_of(ops[0]) == 1 ? kernel_for<false>(a, b, d_head) : kernel_for<true>(a, b, d_head);
}

}  // namespace

bool token_runs(const TokenOp* ops, int32_t n_ops) {
  DeviceTraits device;
  if (current_device(device) != cudaSuccess || device.code < 90) return false;
  const int32_t attention = first_attention(ops, n_ops);
  for (int32_t i = 0; i < n_ops; ++i) {
    if (rows_of(ops[i]) != rows_of(ops[0])) return false;
    if (ops[i].kind == TokenOp::Kind::linear) {
      if (!takes(ops[i].linear)) return false;
    } else if (!takes(ops[i].attention) || !same_place(ops[i].attention, ops[attention].attention)) {
      return false;
    }
  }
  return kernel_of(ops, n_ops) != nullptr;
}

size_t token_x_bytes(int64_t n_cols) {
  return token_flag_bytes(n_cols) + static_cast<size_t>(chunks_of(n_cols)) * ChunkRecord::kBytes;
}

// Tables may follow one another: what a table begins with is copied in units of 16 bytes.
size_t token_table_bytes(int32_t n_ops) {
  const size_t n = (sizeof(TokenWeights) + sizeof(TokenPhase)) * static_cast<size_t>(n_ops), unit = alignof(uint4);
  return (n + unit - 1) / unit * unit;
}

cudaError_t make_token_table(const TokenOp* ops, int32_t n_ops, void* table, TokenLaunch& launch) {
  DeviceTraits device;
  if (const cudaError_t e = current_device(device); e != cudaSuccess) return e;
  auto* weights = static_cast<TokenWeights*>(table);
  auto* phases = reinterpret_cast<TokenPhase*>(weights + n_ops);
  TokenMemory memory;
  memory.records = records_of(ops, n_ops);
  launch = {};
  for (int32_t i = 0, next_cta = 0, n_ready = 0; i < n_ops; ++i) {
    TokenPhase& phase = phases[i];
    phase = {};
    phase.tag_in = ops[i].tag_in, phase.tag_out = ops[i].tag_out;
    if (ops[i].kind == TokenOp::Kind::attention) {
      phase.kind = TokenPhaseKind::attention;
      if (const cudaError_t e = decode_row_params(ops[i].attention, phase.attention); e != cudaSuccess) return e;
      memory.attention = attention_bytes(ops[i].attention.cache.d_head);
      launch.positions = ops[i].attention.cache.positions;
      launch.max_context = ops[i].attention.max_context;
      continue;
    }
    phase.kind = TokenPhaseKind::linear;
    phase.linear = cut(ops[i].linear, device.n_multiprocessors, memory);
    phase.pairs = come_in_pairs(ops[i].linear, memory.records);
    auto* flags = static_cast<uint8_t*>(ops[i].prepared);
    phase.prepared = {flags + token_flag_bytes(ops[i].linear.n_cols), reinterpret_cast<uint32_t*>(flags)};
    phase.n_ready = i > 0 && same_x(ops[i - 1], ops[i]) ? n_ready : 0;
    phase.first_cta = phase.n_ready > 0 ? next_cta : 0;
    next_cta = (phase.first_cta + phase.linear.n_longer) % device.n_multiprocessors;
    n_ready = phase.linear.cta_tiles > 0 ? device.n_multiprocessors : phase.n_ready + phase.linear.n_longer;
    weights[launch.n_weights++] = weights_of(phase);
  }
  const int parts_at = aligned(memory.x);
  for (int32_t i = 0; i < n_ops; ++i) phases[i].linear.parts_at = parts_at;
  launch.n_ops = n_ops;
  launch.n_rows = n_ops > 0 ? rows_of(ops[0]) : 0;
  launch.n_records = memory.records;
  launch.attention = first_attention(ops, n_ops);
  const int products_end = parts_at + aligned(memory.parts);
  launch.ring_at = products_end > memory.attention ? products_end : aligned(memory.attention);
  cudaFuncAttributes attributes{};
  const auto kernel = reinterpret_cast<const void*>(kernel_of(ops, n_ops));
  if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
  if (const cudaError_t e = cudaFuncGetAttributes(&attributes, kernel); e != cudaSuccess) return e;
  launch.kernel = kernel;
  const int room = device.block_shared_bytes - static_cast<int>(attributes.sharedSizeBytes) - launch.ring_at;
  launch.ring_bytes = room / 128 * 128;
  if (launch.ring_bytes < 2 * memory.stage) return cudaErrorInvalidConfiguration;
  launch.stages_ahead = kBytesAhead / memory.least_stage < 2 ? 2 : kBytesAhead / memory.least_stage;
  if (launch.stages_ahead >= kMaxStages) launch.stages_ahead = kMaxStages - 1;
  launch.shared_bytes = launch.ring_at + launch.ring_bytes;
  launch.n_ctas = device.n_multiprocessors;
  return cudaSuccess;
}

cudaError_t launch_token(const TokenLaunch& launch, const void* table, LaunchTarget target) {
  int device = 0;
  if (const cudaError_t e = cudaGetDevice(&device); e != cudaSuccess) return e;
  const auto shared_bytes = static_cast<size_t>(launch.shared_bytes);
  if (const cudaError_t e = allow_shared_memory(launch.kernel, shared_bytes, device); e != cudaSuccess) {
    return e;
  }
  TokenParams p{};
  p.weights = static_cast<const TokenWeights*>(table);
  p.n_weights = launch.n_weights;
  p.phases = reinterpret_cast<const TokenPhase*>(p.weights + launch.n_ops);
  p.positions = launch.positions;
  p.n_rows = launch.n_rows, p.max_context = launch.max_context;
  p.n_records = launch.n_records;
  p.n_phases = launch.n_ops;
  p.attention = launch.attention;
  p.ring_at = launch.ring_at;
  p.ring_bytes = launch.ring_bytes;
  p.ahead = {launch.stages_ahead, launch.stages_ahead > 1 ? launch.stages_ahead - 1 : 1};
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeCooperative;
  attributes[0].val.cooperative = 1;
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(launch.n_ctas));
  config.blockDim = dim3(kLinearThreads + 32);
  config.dynamicSmemBytes = shared_bytes;
  config.attrs = attributes;
  config.numAttrs = 2;
  void* arguments[] = {&p};
  return launch_kernel(target, config, launch.kernel, arguments);
}

}  // namespace inlay::cuda
