// Small safetensors files in memory, whole or broken.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace inlay::testing {

// Length, header, data.
inline std::string safetensors_bytes(std::string_view header, std::string_view data) {
  const uint64_t n = header.size();
  std::string out(reinterpret_cast<const char*>(&n), sizeof n);
  out += header;
  out += data;
  return out;
}

class SafetensorsImage {
 public:
  // The data follow the tensor before, without a gap.
  SafetensorsImage& tensor(std::string_view name, std::string_view dtype, const std::vector<int64_t>& shape,
                           std::string_view data) {
    std::string dims;
    for (const int64_t d : shape) dims += (dims.empty() ? "" : ",") + std::to_string(d);
    header_ += (header_.empty() ? "" : ",") + ("\"" + std::string(name)) + "\":{\"dtype\":\"" + std::string(dtype) +
               "\",\"shape\":[" + dims + "],\"data_offsets\":[" + std::to_string(data_.size()) + "," +
               std::to_string(data_.size() + data.size()) + "]}";
    data_ += data;
    return *this;
  }
  std::string build() const { return safetensors_bytes("{" + header_ + "}", data_); }

 private:
  std::string header_, data_;
};

}  // namespace inlay::testing
