// Counts the calls of operator new in a test program that links inlay_allocation_counter.
#pragma once

#include <cstdint>

namespace inlay::test {

int64_t allocation_count();  // since the start of the program, all threads
int64_t allocated_bytes();   // asked for, likewise
int64_t allocations_of_this_thread();
void fail_allocation(int64_t n);  // the n-th one of this thread from now on; 0: none

}  // namespace inlay::test
