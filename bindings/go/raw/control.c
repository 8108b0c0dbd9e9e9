#include "control.h"

#include <pthread.h>
#include <stdlib.h>

struct inlay_go_control {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int cancelled;
  uint64_t n_done, n_total;
  enum { IDLE, ASKED, ANSWERED, FINISHED } state;
  uint64_t offset, n;  // of the read that is asked for, in bytes
  void* into;
  int32_t error;
};

inlay_go_control* inlay_go_control_new(void) {
  inlay_go_control* control = calloc(1, sizeof *control);
  if (!control) return NULL;
  pthread_mutex_init(&control->mutex, NULL);
  pthread_cond_init(&control->changed, NULL);
  return control;
}

void inlay_go_control_free(inlay_go_control* control) {
  pthread_cond_destroy(&control->changed);
  pthread_mutex_destroy(&control->mutex);
  free(control);
}

static int32_t on_progress(void* user, uint64_t n_done, uint64_t n_total) {
  inlay_go_control* control = user;
  pthread_mutex_lock(&control->mutex);
  control->n_done = n_done;
  control->n_total = n_total;
  const int cancelled = control->cancelled;
  pthread_mutex_unlock(&control->mutex);
  return cancelled;
}

static int32_t on_read(void* user, uint64_t offset, void* into, uint64_t n) {
  inlay_go_control* control = user;
  pthread_mutex_lock(&control->mutex);
  control->offset = offset;
  control->into = into;
  control->n = n;
  control->state = ASKED;
  pthread_cond_broadcast(&control->changed);
  while (control->state == ASKED) pthread_cond_wait(&control->changed, &control->mutex);
  const int32_t error = control->error;
  control->state = IDLE;
  pthread_mutex_unlock(&control->mutex);
  return error;
}

void inlay_go_control_attach(inlay_go_control* control, inlay_load_params* params) {
  params->progress = on_progress;
  params->progress_user = control;
}

void inlay_go_control_attach_convert(inlay_go_control* control, inlay_convert_params* params) {
  params->progress = on_progress;
  params->progress_user = control;
}

void inlay_go_control_attach_reader(inlay_go_control* control, inlay_reader* reader) {
  reader->read = on_read;
  reader->user = control;
}

void inlay_go_control_cancel(inlay_go_control* control) {
  pthread_mutex_lock(&control->mutex);
  control->cancelled = 1;
  pthread_mutex_unlock(&control->mutex);
}

void inlay_go_control_progress(inlay_go_control* control, uint64_t* n_done, uint64_t* n_total) {
  pthread_mutex_lock(&control->mutex);
  *n_done = control->n_done;
  *n_total = control->n_total;
  pthread_mutex_unlock(&control->mutex);
}

int inlay_go_control_next_read(inlay_go_control* control, uint64_t* offset, void** into, uint64_t* n) {
  pthread_mutex_lock(&control->mutex);
  while (control->state != ASKED && control->state != FINISHED) pthread_cond_wait(&control->changed, &control->mutex);
  const int asked = control->state == ASKED;
  *offset = control->offset;
  *into = control->into;
  *n = control->n;
  pthread_mutex_unlock(&control->mutex);
  return asked;
}

void inlay_go_control_answer(inlay_go_control* control, int32_t error) {
  pthread_mutex_lock(&control->mutex);
  control->error = error;
  control->state = ANSWERED;
  pthread_cond_broadcast(&control->changed);
  pthread_mutex_unlock(&control->mutex);
}

void inlay_go_control_finish(inlay_go_control* control) {
  pthread_mutex_lock(&control->mutex);
  control->state = FINISHED;
  pthread_cond_broadcast(&control->changed);
  pthread_mutex_unlock(&control->mutex);
}
