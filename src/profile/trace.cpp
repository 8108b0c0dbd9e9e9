#include "src/base/format.h"
#include "src/profile/profile.h"

namespace inlay {
namespace {

// The text between quotes of JSON; control characters become blanks.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

void append_name(std::string& out, const char* event, int process, const std::string& name) {
  append_format(out, "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%d,\"tid\":1,\"args\":{\"name\":\"", event, process);
  out += escaped(name);
  out += "\"}},\n";
}

void append_op(std::string& out, const Profile& p, const ProfiledOp& op, int process) {
  const double bytes_per_second = op.us > 0 ? static_cast<double>(op.n_bytes()) / op.us * 1e6 : 0;
  append_format(out,
                "{\"name\":\"%s\",\"cat\":\"op\",\"ph\":\"X\",\"pid\":%d,\"tid\":1,\"ts\":%.3f,\"dur\":%.3f,\"args\":{"
                "\"op\":%d,\"layer\":%d,",
                op.kind, process, op.begin_us, op.us, op.index, op.layer);
  append_format(out, "\"weight_bytes\":%llu,\"kv_bytes\":%llu,\"activation_bytes\":%llu,\"flops\":%llu,",
                static_cast<unsigned long long>(op.weight_bytes), static_cast<unsigned long long>(op.kv_bytes),
                static_cast<unsigned long long>(op.activation_bytes), static_cast<unsigned long long>(op.flops));
  append_format(out, "\"gb_per_s\":%.2f,\"share_of_read_bandwidth\":%.4f}},\n", bytes_per_second * 1e-9,
                p.read_bandwidth > 0 ? bytes_per_second / p.read_bandwidth : 0);
}

}  // namespace

std::string chrome_trace(std::span<const Profile> profiles) {
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  for (size_t i = 0; i < profiles.size(); ++i) {
    const Profile& p = profiles[i];
    const int process = static_cast<int>(i) + 1;
    std::string name;
    append_format(name, "%lld tokens after %lld, ", static_cast<long long>(p.n_tokens),
                  static_cast<long long>(p.n_past));
    append_name(out, "process_name", process, name + p.device);
    append_name(out, "thread_name", process, "ops");
    for (const ProfiledOp& op : p.ops) append_op(out, p, op, process);
  }
  if (!profiles.empty()) out.resize(out.size() - 2);  // the last comma
  return out + "\n]}\n";
}

}  // namespace inlay
