#include "control.h"

#include <stdlib.h>
#include <string.h>

#include "lock.h"

typedef struct message {
  struct message* next;
  inlay_log_level level;
  size_t len;
  char text[];
} message;

struct inlay_go_control {
  inlay_go_lock lock;
  int cancelled;
  int log_ended;
  uint64_t n_done, n_total;
  enum { IDLE, ASKED, ANSWERED, FINISHED } state;
  uint64_t offset, n;  // of the read that is asked for, in bytes
  void* into;
  int32_t error;
  message *first, *last;  // that are not yet taken
};

inlay_go_control* inlay_go_control_new(void) {
  inlay_go_control* control = calloc(1, sizeof *control);
  if (!control) return NULL;
  inlay_go_lock_init(&control->lock);
  return control;
}

void inlay_go_control_free(inlay_go_control* control) {
  while (control->first) inlay_go_control_drop_message(control);
  inlay_go_lock_destroy(&control->lock);
  free(control);
}

static int32_t on_progress(void* user, uint64_t n_done, uint64_t n_total) {
  inlay_go_control* control = user;
  inlay_go_lock_take(&control->lock);
  control->n_done = n_done;
  control->n_total = n_total;
  const int cancelled = control->cancelled;
  inlay_go_lock_leave(&control->lock);
  return cancelled;
}

static void on_log(void* user, inlay_log_level level, const char* text, size_t len) {
  inlay_go_control* control = user;
  message* made = malloc(sizeof *made + len);
  if (!made) return;  // a message that is lost ends nothing
  made->next = NULL;
  made->level = level;
  made->len = len;
  memcpy(made->text, text, len);
  inlay_go_lock_take(&control->lock);
  if (control->last) control->last->next = made;
  else control->first = made;
  control->last = made;
  inlay_go_lock_wake_all(&control->lock);
  inlay_go_lock_leave(&control->lock);
}

static int32_t on_read(void* user, uint64_t offset, void* into, uint64_t n) {
  inlay_go_control* control = user;
  inlay_go_lock_take(&control->lock);
  control->offset = offset;
  control->into = into;
  control->n = n;
  control->state = ASKED;
  inlay_go_lock_wake_all(&control->lock);
  while (control->state == ASKED) inlay_go_lock_wait(&control->lock);
  const int32_t error = control->error;
  control->state = IDLE;
  inlay_go_lock_leave(&control->lock);
  return error;
}

static int32_t on_state_read(void* user, void* into, uint64_t n) { return on_read(user, 0, into, n); }

static int32_t on_state_write(void* user, const void* state, uint64_t n) { return on_read(user, 0, (void*)state, n); }

void inlay_go_control_attach(inlay_go_control* control, inlay_load_params* params) {
  params->progress = on_progress;
  params->progress_user = control;
}

void inlay_go_control_attach_convert(inlay_go_control* control, inlay_convert_params* params) {
  params->progress = on_progress;
  params->progress_user = control;
}

void inlay_go_control_attach_score(inlay_go_control* control, inlay_score_params* params) {
  params->progress = on_progress;
  params->progress_user = control;
}

void inlay_go_control_attach_embed(inlay_go_control* control, inlay_embed_params* params) {
  params->progress = on_progress;
  params->progress_user = control;
}

void inlay_go_control_attach_log(inlay_go_control* control, inlay_convert_params* params) {
  params->log = on_log;
  params->log_user = control;
}

void inlay_go_control_attach_load_log(inlay_go_control* control, inlay_load_params* params) {
  params->log = on_log;
  params->log_user = control;
}

void inlay_go_control_attach_reader(inlay_go_control* control, inlay_reader* reader) {
  reader->read = on_read;
  reader->user = control;
}

void inlay_go_control_attach_state_reader(inlay_go_control* control, inlay_state_reader* reader) {
  reader->read = on_state_read;
  reader->user = control;
}

void inlay_go_control_attach_state_writer(inlay_go_control* control, inlay_state_writer* writer) {
  writer->write = on_state_write;
  writer->user = control;
}

void inlay_go_control_cancel(inlay_go_control* control) {
  inlay_go_lock_take(&control->lock);
  control->cancelled = 1;
  inlay_go_lock_leave(&control->lock);
}

void inlay_go_control_progress(inlay_go_control* control, uint64_t* n_done, uint64_t* n_total) {
  inlay_go_lock_take(&control->lock);
  *n_done = control->n_done;
  *n_total = control->n_total;
  inlay_go_lock_leave(&control->lock);
}

int inlay_go_control_message(inlay_go_control* control, inlay_log_level* level, const char** text, size_t* len) {
  inlay_go_lock_take(&control->lock);
  const message* first = control->first;
  inlay_go_lock_leave(&control->lock);
  if (!first) return 0;
  *level = first->level;
  *text = first->text;
  *len = first->len;
  return 1;
}

int inlay_go_control_wait_message(inlay_go_control* control, inlay_log_level* level, const char** text, size_t* len) {
  inlay_go_lock_take(&control->lock);
  while (!control->first && !control->log_ended) inlay_go_lock_wait(&control->lock);
  inlay_go_lock_leave(&control->lock);
  return inlay_go_control_message(control, level, text, len);
}

void inlay_go_control_drop_message(inlay_go_control* control) {
  inlay_go_lock_take(&control->lock);
  message* first = control->first;
  control->first = first->next;
  if (!control->first) control->last = NULL;
  inlay_go_lock_leave(&control->lock);
  free(first);
}

int inlay_go_control_next_read(inlay_go_control* control, uint64_t* offset, void** into, uint64_t* n) {
  inlay_go_lock_take(&control->lock);
  while (control->state != ASKED && control->state != FINISHED) inlay_go_lock_wait(&control->lock);
  const int asked = control->state == ASKED;
  *offset = control->offset;
  *into = control->into;
  *n = control->n;
  inlay_go_lock_leave(&control->lock);
  return asked;
}

void inlay_go_control_answer(inlay_go_control* control, int32_t error) {
  inlay_go_lock_take(&control->lock);
  control->error = error;
  control->state = ANSWERED;
  inlay_go_lock_wake_all(&control->lock);
  inlay_go_lock_leave(&control->lock);
}

void inlay_go_control_finish(inlay_go_control* control) {
  inlay_go_lock_take(&control->lock);
  control->state = FINISHED;
  inlay_go_lock_wake_all(&control->lock);
  inlay_go_lock_leave(&control->lock);
}

void inlay_go_control_end_log(inlay_go_control* control) {
  inlay_go_lock_take(&control->lock);
  control->log_ended = 1;
  inlay_go_lock_wake_all(&control->lock);
  inlay_go_lock_leave(&control->lock);
}
