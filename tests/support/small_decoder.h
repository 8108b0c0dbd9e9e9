// The parts of a small decoder in double precision, from its tensors in F32: what tests of whole models make their definitions of.
#pragma once

#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tests/support/hf_folder.h"

namespace inlay::test {

class SmallDecoder {
 protected:
  using Row = std::vector<double>;
  static constexpr size_t kWidth = 32, kHead = 16;

  explicit SmallDecoder(std::span<const HfTensor> tensors) {
    for (const HfTensor& t : tensors) {
      std::vector<float> values(t.data.size() / sizeof(float));
      std::memcpy(values.data(), t.data.data(), t.data.size());
      weights_[t.name] = {values.begin(), values.end()};
    }
  }

  void enter(const std::string& prefix) { prefix_ = prefix; }  // of the names that follow
  std::vector<Row> embedded(std::span<const int32_t> tokens) const {
    std::vector<Row> x;
    for (const int32_t token : tokens) {
      const double* row = weights_.at("model.embed_tokens.weight").data() + static_cast<size_t>(token) * kWidth;
      x.emplace_back(row, row + kWidth);
    }
    return x;
  }
  static void add(Row& to, const Row& row) {
    for (size_t i = 0; i < to.size(); ++i) to[i] += row[i];
  }
  Row times(const std::string& name, const Row& x) const {
    const Row& w = weights_.at(prefix_ + name + ".weight");
    Row out(w.size() / x.size());
    for (size_t i = 0; i < w.size(); ++i) out[i / x.size()] += w[i] * x[i % x.size()];
    return out;
  }
  Row normed(Row x, const std::string& whole_name) const {
    double squares = 0;
    for (const double v : x) squares += v * v;
    const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + 1e-5);
    for (size_t i = 0; i < x.size(); ++i) x[i] *= scale * weights_.at(whole_name + ".weight")[i];
    return x;
  }
  Row normed_by(Row x, const std::string& name) const { return normed(std::move(x), prefix_ + name); }
  static void rotate(Row& x, size_t position) {
    for (size_t head = 0; head < x.size(); head += kHead) {
      for (size_t i = 0; i < kHead / 2; ++i) {
        const double angle = static_cast<double>(position) * std::pow(10000.0, -2.0 * static_cast<double>(i) / kHead);
        double &a = x[head + i], &b = x[head + i + kHead / 2];
        const double turned = a * std::cos(angle) - b * std::sin(angle);
        b = a * std::sin(angle) + b * std::cos(angle);
        a = turned;
      }
    }
  }
  Row gated(const Row& x) const {
    Row gate = times("mlp.gate_proj", x);
    const Row up = times("mlp.up_proj", x);
    for (size_t i = 0; i < gate.size(); ++i) gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
    return times("mlp.down_proj", gate);
  }
  // What a query of all heads takes of the keys for which sees(key).
  template <class Sees>
  static Row attended(const Row& q, std::span<const Row> k, std::span<const Row> v, const Sees& sees) {
    Row out(q.size());
    for (size_t head = 0; head < q.size(); head += kHead) {
      double sum = 0;
      for (size_t key = 0; key < k.size(); ++key) {
        if (!sees(key)) continue;
        double score = 0;
        for (size_t i = 0; i < kHead; ++i) score += q[head + i] * k[key][i] / std::sqrt(double{kHead});
        sum += std::exp(score);
        for (size_t i = 0; i < kHead; ++i) out[head + i] += std::exp(score) * v[key][i];
      }
      for (size_t i = 0; i < kHead; ++i) out[head + i] /= sum;
    }
    return out;
  }

 private:
  std::map<std::string, Row> weights_;
  std::string prefix_;
};

}  // namespace inlay::test
