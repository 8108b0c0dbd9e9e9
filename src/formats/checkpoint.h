// What a model file holds, whatever its format: metadata and a directory of tensors whose bytes can be had.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/dtype.h"
#include "src/base/status.h"
#include "src/formats/metadata.h"

namespace inlay {

// Random-access bytes: a mapped file, memory of the caller, or read callbacks.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual uint64_t size() const = 0;
  // Bytes [offset, offset + n) without copying, or null if the source cannot (then read() is to be used).
  virtual const std::byte* view(uint64_t offset, uint64_t n) const = 0;
  virtual Status read(uint64_t offset, std::span<std::byte> into) const = 0;
  // Whether several threads may read at once; otherwise only the thread that loads does.
  virtual bool is_concurrent() const = 0;
  // The range will not be read again: what is kept of it may be dropped.
  virtual void discard(uint64_t offset, uint64_t n) const { (void)offset, (void)n; }
  // IO where what was read may be of two states: a file that was written to meanwhile.
  virtual Status check_unchanged() const { return {}; }
  virtual std::string_view name() const = 0;  // for messages

  bool contains(uint64_t offset, uint64_t n) const { return offset <= size() && n <= size() - offset; }
  Status check_range(uint64_t offset, uint64_t n) const;  // an error that names the source unless contains()
};

Result<std::unique_ptr<ByteSource>> open_file(const std::string& path);
// The memory must stay valid while the source lives.
std::unique_ptr<ByteSource> borrow_memory(std::span<const std::byte> bytes, std::string name);
std::unique_ptr<ByteSource> own_memory(std::vector<std::byte> bytes, std::string name);
// Fills `n` bytes from `offset`, returns 0 or an error number, which becomes Status::native_code.
using ReadCallback = int32_t (*)(void* user, uint64_t offset, void* into, uint64_t n);
std::unique_ptr<ByteSource> read_through(ReadCallback read, void* user, uint64_t size, std::string name);

struct TensorEntry {
  std::string_view name;  // points into the checkpoint's copy of the header
  DType dtype = DType::f32;
  int32_t rank = 0;
  std::array<int64_t, 4> shape{};  // outermost first, entries past the rank are 1
  uint32_t source = 0;             // which of the checkpoint's sources
  uint64_t offset = 0;             // in that source, absolute
  uint64_t n_bytes = 0;            // checked: row_bytes x rows, inside the source, overlapping no other tensor
};

// Where the files that a checkpoint came from differ from GGUF.
struct FileConventions {
  std::string model_path;  // in messages; empty: the first source's name
  // What the files call the tensor that GGUF calls so; null: the same.
  std::function<std::string(std::string_view gguf_name)> tensor_name;
  // Rows of Q and K are stored for RoPE of pairs (i, i + n_rot / 2), whatever the family.
  bool halved_rope = false;
  // What the weights of norms lack that GGUF's of the same family have: Gemma's are stored without a 1 that is added.
  float added_to_norms = 0;
  std::vector<std::string> warnings;  // for the log of the load
  // Where tokenizer.json and its companions lie; empty: the metadata have the vocabulary.
  std::string tokenizer_folder;
};

class Checkpoint {
 public:
  Checkpoint() = default;
  // Names are unique (see duplicate) and every entry's `source` is an index into `sources`.
  Checkpoint(Metadata metadata, std::vector<TensorEntry> tensors, std::vector<std::unique_ptr<ByteSource>> sources,
             std::vector<std::shared_ptr<const std::vector<std::byte>>> headers);
  Checkpoint(Checkpoint&&) = default;
  Checkpoint& operator=(Checkpoint&&) = default;

  void set_conventions(FileConventions conventions) { conventions_ = std::move(conventions); }
  const FileConventions& conventions() const { return conventions_; }
  std::string model_path() const;  // in messages: the file, or the folder
  std::string name_in_file(std::string_view gguf_name) const;

  const Metadata& metadata() const { return metadata_; }
  std::span<const TensorEntry> tensors() const { return tensors_; }
  const TensorEntry* find(std::string_view name) const;  // null if absent
  const TensorEntry* duplicate() const;                  // a tensor whose name another one has too, null if none
  std::string_view source_name(const TensorEntry& tensor) const { return sources_[tensor.source]->name(); }
  uint64_t n_tensor_bytes() const;

  // The tensor's bytes: a view of the source where it can give one, otherwise read into `scratch`, which is grown.
  Result<const std::byte*> bytes(const TensorEntry& tensor, std::vector<std::byte>& scratch) const;
  // The same where the source can give one, otherwise null.
  const std::byte* view(const TensorEntry& tensor) const { return sources_[tensor.source]->view(tensor.offset, tensor.n_bytes); }
  // Bytes [at, at + into.size()) of the tensor.
  Status read(const TensorEntry& tensor, uint64_t at, std::span<std::byte> into) const;
  bool is_concurrent() const;  // whether several threads may call read() at once
  Status check_unchanged() const;  // of all sources
  void discard(const TensorEntry& tensor) const { discard(tensor, 0, tensor.n_bytes); }
  void discard(const TensorEntry& tensor, uint64_t at, uint64_t n_bytes) const;  // within the tensor

 private:
  Metadata metadata_;
  std::vector<TensorEntry> tensors_;
  std::vector<std::unique_ptr<ByteSource>> sources_;
  std::vector<std::shared_ptr<const std::vector<std::byte>>> headers_;  // keep the names of split files alive
  std::vector<uint32_t> by_name_;                                       // indices into tensors_, sorted by name
  FileConventions conventions_;
};

}  // namespace inlay
