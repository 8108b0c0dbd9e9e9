// The whole of mimalloc; without MI_MALLOC_OVERRIDE it defines mi_* only. Compiled from its unpacked source.
#include <src/static.c>

#if defined(INLAY_MIMALLOC_COUNTS_READERS) && !defined(_WIN32)
#include <pthread.h>

// In the child of a fork only the thread that forked is left. What others have marked as under way stays so, and is waited for for ever:
// a thread that takes a segment of an ended one (abandoned_readers), before memory goes back to the system; and one that frees a block of
// this thread, at this thread's end and where memory runs out. The block may be lost.
static void forget_other_threads(void) {
  mi_atomic_store_release(&abandoned_readers, 0);
  mi_heap_t* const heap = mi_get_default_heap();
  for (size_t bin = 0; bin <= MI_BIN_FULL; ++bin) {
    for (mi_page_t* page = heap->pages[bin].first; page != NULL; page = page->next) {
      const mi_thread_free_t freed = mi_atomic_load_relaxed(&page->xthread_free);
      if (mi_tf_delayed(freed) == MI_DELAYED_FREEING)
        mi_atomic_store_release(&page->xthread_free, mi_tf_set_delayed(freed, MI_USE_DELAYED_FREE));
    }
  }
}

__attribute__((constructor)) static void watch_forks(void) { (void)pthread_atfork(NULL, NULL, forget_other_threads); }
#endif
