// In the child of a fork mimalloc does what it does elsewhere, although threads of the parent were just in it.
// Prints "done" for each thing that the child does, or "waits" where it still waits for such a thread after some seconds.
#include "src/base/mimalloc/source.c"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

// As a thread marks it that takes a segment of an ended one.
static void take_segment(void) { mi_atomic_increment_relaxed(&abandoned_readers); }
static void give_back(void) { mi_free(mi_malloc((size_t)256 << 20)); }

// As a thread marks it that frees a block of this one.
static void free_block(void) {
  mi_block_t* const block = (mi_block_t*)mi_malloc(64);
  mi_page_t* const page = _mi_ptr_page(block);
  mi_heap_t* const heap = mi_page_heap(page);
  mi_block_set_nextx(heap, block, NULL, heap->keys);
  mi_atomic_store_release(&page->xthread_free, mi_tf_set_delayed(mi_atomic_load_relaxed(&page->xthread_free), MI_DELAYED_FREEING));
  mi_atomic_store_ptr_release(mi_block_t, &heap->thread_delayed_free, block);
}
static void collect(void) { mi_collect(true); }

static void fork_while(const char* name, void (*other)(void), void (*work)(void)) {
  const pid_t child = fork();  // so that each begins alike
  if (child == 0) {
    other();
    const pid_t grandchild = fork();
    if (grandchild == 0) {
#ifdef INLAY_MIMALLOC_COUNTS_READERS
      alarm(60);
#else
      alarm(3);  // this one does wait
#endif
      work();
      _exit(0);
    }
    int how = -1;
    if (grandchild < 0 || waitpid(grandchild, &how, 0) != grandchild) _exit(1);
    printf("%s: %s\n", name, how == 0 ? "done" : WIFSIGNALED(how) && WTERMSIG(how) == SIGALRM ? "waits" : "failed");
    fflush(stdout);
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

int main(void) {
  mi_free(mi_malloc(1));
  fork_while("a segment is taken", take_segment, give_back);
  fork_while("a block is freed", free_block, collect);
  return 0;
}
