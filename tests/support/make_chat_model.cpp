// Writes a model of random weights with the chat template that a file has: make_chat_model TEMPLATE OUT.gguf [CONTROL...]
#include <cstdio>
#include <fstream>
#include <iterator>

#include "tests/support/chat_model.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: make_chat_model TEMPLATE OUT.gguf [CONTROL...]\n");
    return 2;
  }
  std::ifstream source(argv[1], std::ios::binary);
  inlay::test::ChatModel model{{std::istreambuf_iterator<char>(source), std::istreambuf_iterator<char>()}, {argv + 3, argv + argc}};
  const std::vector<std::byte> bytes = inlay::test::chat_model(model);
  std::ofstream out(argv[2], std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return source && out.flush() ? 0 : 1;
}
