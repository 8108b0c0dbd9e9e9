// Progress, cancelling and reading of one load, conversion or scoring without a call from C into Go: its callbacks leave what they
// were told, and wait for what they need, in a struct that Go looks at.
#ifndef INLAY_GO_CONTROL_H
#define INLAY_GO_CONTROL_H

#include "inlay.h"

typedef struct inlay_go_control inlay_go_control;

// NULL if memory ran out.
inlay_go_control* inlay_go_control_new(void);
void inlay_go_control_free(inlay_go_control* control);

// Makes the load, conversion or scoring report to the control. It must live until that has returned.
void inlay_go_control_attach(inlay_go_control* control, inlay_load_params* params);
void inlay_go_control_attach_convert(inlay_go_control* control, inlay_convert_params* params);
void inlay_go_control_attach_score(inlay_go_control* control, inlay_score_params* params);
void inlay_go_control_attach_embed(inlay_go_control* control, inlay_embed_params* params);
void inlay_go_control_attach_log(inlay_go_control* control, inlay_convert_params* params);
void inlay_go_control_attach_reader(inlay_go_control* control, inlay_reader* reader);
void inlay_go_control_attach_state_reader(inlay_go_control* control, inlay_state_reader* reader);
void inlay_go_control_attach_state_writer(inlay_go_control* control, inlay_state_writer* writer);

// The engine logs to the control as long as it lives.
void inlay_go_control_attach_load_log(inlay_go_control* control, inlay_load_params* params);

// Any thread.
void inlay_go_control_cancel(inlay_go_control* control);
void inlay_go_control_progress(inlay_go_control* control, uint64_t* n_done, uint64_t* n_total);

// The oldest message that was logged and not dropped; 0 if there is none. Its text stays until it is dropped. One thread.
int inlay_go_control_message(inlay_go_control* control, inlay_log_level* level, const char** text, size_t* len);
// Waits for a message; 0 if there is none and there will be none, because inlay_go_control_end_log was called.
int inlay_go_control_wait_message(inlay_go_control* control, inlay_log_level* level, const char** text, size_t* len);
void inlay_go_control_drop_message(inlay_go_control* control);
void inlay_go_control_end_log(inlay_go_control* control);

// Waits for the next read, or for the next bytes that are written, which lie at `into`. Returns 0 when there will be none, because inlay_go_control_finish was called.
int inlay_go_control_next_read(inlay_go_control* control, uint64_t* offset, void** into, uint64_t* n);
// Lets the call go on with what was read or taken, or with an error number.
void inlay_go_control_answer(inlay_go_control* control, int32_t error);
void inlay_go_control_finish(inlay_go_control* control);

#endif
