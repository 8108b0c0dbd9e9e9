// Mutated GGUF files: an error, or an engine that can be used to its end.
#include <algorithm>
#include <filesystem>

#include "tests/abuse/children.h"
#include "tests/abuse/gguf_fields.h"
#include "tests/abuse/host.h"

namespace inlay::abuse {

namespace {

namespace fs = std::filesystem;
constexpr uint64_t kAddressBytes = uint64_t{8} << 30;  // a file that asks for more is refused

struct Seed {
  fuzz::Input bytes;
  GgufFields fields;
};

std::vector<Seed> seeds;
std::string file;

bool read_seeds(Case& the_case) {
  file = scratch_folder() + "/mutated.gguf";
  std::vector<fs::path> paths;
  for (const char* folder : {"tests/data/models", "tests/fuzz/corpus/gguf"}) {
    for (const auto& entry : fs::directory_iterator(source_path(folder))) {
      if (entry.path().extension() == ".gguf") paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  for (const fs::path& path : paths) {
    Seed seed = {bytes_of_file(path), {}};
    seed.fields = GgufWalk(seed.bytes).walk();
    if (!seed.fields.fields.empty()) seeds.push_back(std::move(seed));
  }
  if (!INLAY_SANITIZED) limit_memory(kAddressBytes);
  if (seeds.size() < 40) the_case.say("no models");
  return seeds.size() >= 40;
}

void remove_file() { unlink(file.c_str()); }

void put(fuzz::Input& bytes, const Field& field, uint64_t value) {
  std::memcpy(bytes.data() + field.at, &value, field.width);
}

uint64_t value_of(const fuzz::Input& bytes, const Field& field) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + field.at, std::min<size_t>(field.width, sizeof value));
  return value;
}

void change_text(fuzz::Input& bytes, const Field& field, fuzz::Random& random) {
  uint8_t* text = bytes.data() + field.at;
  if (random.one_in(2)) {
    text[random.below(field.width)] = static_cast<uint8_t>(random.next());
  } else {  // another place of the same text, as one key for another
    std::swap(text[random.below(field.width)], text[random.below(field.width)]);
  }
}

void change_field(Seed& seed, fuzz::Random& random) {
  const Field& field = seed.fields.fields[random.below(seed.fields.fields.size())];
  const uint64_t old = value_of(seed.bytes, field);
  static constexpr float kReals[] = {0.0f, -1.0f, 1e-38f, 3e38f, 1e6f, -0.0f};
  switch (field.kind) {
    case FieldKind::text:
      return change_text(seed.bytes, field, random);
    case FieldKind::type:
      return put(seed.bytes, field, random.below(15));
    case FieldKind::tensor_type:
      return put(seed.bytes, field, random.below(44));
    case FieldKind::real: {
      const float value =
          random.one_in(4) ? static_cast<float>(0.0 / 0.0 * static_cast<double>(random.below(2))) : random.of(kReals);
      std::memcpy(seed.bytes.data() + field.at, &value, sizeof value);
      return;
    }
    default:
      break;
  }
  switch (random.below(4)) {
    case 0:
      return put(seed.bytes, field, old + random.below(5) - 2);
    case 1:
      return put(seed.bytes, field, old * 2);
    case 2:
      return put(seed.bytes, field, old / 2);
    default:
      return put(seed.bytes, field, fuzz::hostile_number(seed.bytes.size(), random));
  }
}

// Numbers that a model is made of are few among the entries of its vocabulary: they are what half of the changes are
// of.
void change_number(Seed& seed, fuzz::Random& random) {
  std::vector<const Field*> numbers;
  for (const Field& f : seed.fields.fields) {
    if (f.kind == FieldKind::dimension || f.kind == FieldKind::tensor_type || f.kind == FieldKind::offset ||
        (f.kind == FieldKind::number && f.at < 4096)) {
      numbers.push_back(&f);
    }
  }
  if (numbers.empty()) return;
  const Field& field = *numbers[random.below(numbers.size())];
  static constexpr uint64_t kSmall[] = {0, 1, 2, 3, 4, 8, 16, 31, 32, 48, 64, 96, 128, 256, 320, 512, 1024};
  put(seed.bytes, field, random.one_in(3) ? fuzz::hostile_number(seed.bytes.size(), random) : random.of(kSmall));
}

fuzz::Input mutated(fuzz::Random& random) {
  Seed seed = seeds[random.below(seeds.size())];
  const size_t n_changes = 1 + random.below(3);
  for (size_t i = 0; i < n_changes; ++i) {
    switch (random.below(8)) {
      case 0:  // anywhere, most of it weights
        seed.bytes[random.below(seed.bytes.size())] = static_cast<uint8_t>(random.next());
        break;
      case 1: {
        const uint64_t value = random.one_in(2) ? 0x7FC00000FF800000u : random.next();  // NaN and infinity
        const size_t at = seed.fields.data_begin +
                          random.below(seed.bytes.size() - std::min(seed.bytes.size(), seed.fields.data_begin));
        if (at + sizeof value <= seed.bytes.size()) std::memcpy(seed.bytes.data() + at, &value, sizeof value);
        break;
      }
      case 2:
      case 3:
      case 4:
        change_number(seed, random);
        break;
      default:
        change_field(seed, random);
        break;
    }
  }
  if (random.one_in(12)) fuzz::mutate(seed.bytes, seeds[random.below(seeds.size())].bytes, random);
  if (random.one_in(10)) seed.bytes.resize(random.below(seed.bytes.size() + 1));
  return std::move(seed.bytes);
}

struct Reader {
  const fuzz::Input* bytes;
  static int32_t read(void* user, uint64_t offset, void* into, uint64_t n) {
    const auto& self = *static_cast<Reader*>(user)->bytes;
    if (offset > self.size() || n > self.size() - offset) return 5;
    std::memcpy(into, self.data() + offset, n);
    return 0;
  }
};

inlay_engine* load_reader(Host& host, const fuzz::Input& bytes, const inlay_load_params& params) {
  Reader reader = {&bytes};
  inlay_reader given = sized<inlay_reader>();
  given.user = &reader;
  given.size = bytes.size();
  given.read = Reader::read;
  inlay_engine* engine = nullptr;
  inlay_error err;
  host.check("inlay_load_reader", lib.inlay_load_reader(&given, &params, &engine, &err), err, engine);
  return engine;
}

// Other readers of a file than a load.
void look_at_file(Host& host, const inlay_load_params& params) {
  inlay_error err;
  char text[4096];
  int32_t n_devices = 0;
  size_t needed = 0;
  const auto form = static_cast<inlay_explain_form>(host.random().below(2));
  inlay_memory_info info = sized<inlay_memory_info>();
  host.check("inlay_memory_plan", lib.inlay_memory_plan(file.data(), file.size(), &params, &info, &err), err);
  host.check("inlay_explain",
             lib.inlay_explain(file.data(), file.size(), &params, form, &n_devices, text, sizeof text, &needed, &err), err);
  inlay_convert_params convert = sized<inlay_convert_params>();
  convert.type = static_cast<inlay_convert_type>(host.random().below(10));
  convert.n_threads = 1;
  const std::string out = file + ".out";
  if (host.check("inlay_convert", lib.inlay_convert(file.data(), file.size(), out.data(), out.size(), &convert, &err),
                 err)) {
    use_and_free(host, load_file(host, out, params));
  }
  unlink(out.c_str());
}

Outcome run(Case& the_case) {
  Host host(the_case);
  const fuzz::Input bytes = mutated(the_case.random);
  inlay_load_params params = small_params(the_case.random);
  static constexpr inlay_weight_dtype kWeights[] = {INLAY_WEIGHT_DEFAULT, INLAY_WEIGHT_DEFAULT, INLAY_WEIGHT_DEFAULT,
                                                    INLAY_WEIGHT_FP8,     INLAY_WEIGHT_Q8_0,    INLAY_WEIGHT_Q4_K_M};
  params.weight_dtype = the_case.random.of(kWeights);
  inlay_engine* engine = nullptr;
  switch (the_case.random.below(4)) {
    case 0:
      if (!write_file(file, bytes.data(), bytes.size())) the_case.violated("cannot write " + file);
      if (the_case.random.one_in(3)) look_at_file(host, params);
      engine = load_file(host, file, params);
      break;
    case 1:
      engine = bytes.empty() ? nullptr : load_reader(host, bytes, params);
      break;
    default:
      engine = load_memory(host, bytes.data(), bytes.size(), params);
      break;
  }
  const bool accepted = engine != nullptr;
  use_and_free(host, engine);
  return accepted ? Outcome::accepted : Outcome::refused;
}

}  // namespace

const Generator kGguf = {"gguf",     "mutated GGUF files, and engines of those that load", 500, 20, read_seeds, run,
                         remove_file};

}  // namespace inlay::abuse
