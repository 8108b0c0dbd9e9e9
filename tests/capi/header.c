// The header and the loader header in plain C11 and in C++: compiled with every warning an error.
#include "include/capi/inlay.h"
#include "include/capi/inlay_dl.h"

inlay_status load_and_free(inlay_dl* api, const char* path);

inlay_status load_and_free(inlay_dl* api, const char* path) {
  inlay_engine* engine = NULL;
  inlay_error err;
  const inlay_status status = api->inlay_load(path, SIZE_MAX, NULL, &engine, &err);
  api->inlay_free(engine);
#ifdef INLAY_TEST_WRONG_USE
  return api->inlay_load(path, SIZE_MAX, engine, NULL, err);
#endif
  return status;
}
