// Linked without a list of exports: the negative control of tests/lint/check_dll.py.
#include <string>

std::string joined(const std::string& a, const std::string& b) { return a + b; }
