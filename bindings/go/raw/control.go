package raw

/*
#include "control.h"
*/
import "C"

import "unsafe"

// Control follows, cancels and feeds one load, follows and cancels one conversion or scoring, or passes the bytes of one saved
// session, without calls from C into Go.
type Control struct{ c *C.inlay_go_control }

// NewControl makes a control, which Free gives back after the call has returned.
func NewControl() Control {
	c := C.inlay_go_control_new()
	if c == nil {
		panic("inlay: out of memory")
	}
	return Control{c}
}

// Free gives the control's memory back.
func (c Control) Free() { C.inlay_go_control_free(c.c) }

// Attach makes a load report its progress to the control and obey its Cancel.
func (c Control) Attach(params *LoadParams) {
	C.inlay_go_control_attach(c.c, (*C.inlay_load_params)(unsafe.Pointer(params)))
}

// AttachConvert is Attach for a conversion.
func (c Control) AttachConvert(params *ConvertParams) {
	C.inlay_go_control_attach_convert(c.c, (*C.inlay_convert_params)(unsafe.Pointer(params)))
}

// AttachScore is Attach for a scoring.
func (c Control) AttachScore(params *ScoreParams) {
	C.inlay_go_control_attach_score(c.c, (*C.inlay_score_params)(unsafe.Pointer(params)))
}

// AttachEmbed is Attach for an embedding.
func (c Control) AttachEmbed(params *EmbedParams) {
	C.inlay_go_control_attach_embed(c.c, (*C.inlay_embed_params)(unsafe.Pointer(params)))
}

// AttachLog makes a conversion leave its messages with the control.
func (c Control) AttachLog(params *ConvertParams) {
	C.inlay_go_control_attach_log(c.c, (*C.inlay_convert_params)(unsafe.Pointer(params)))
}

// AttachLoadLog makes a load, and then the engine as long as it lives, leave its messages with the control.
func (c Control) AttachLoadLog(params *LoadParams) {
	C.inlay_go_control_attach_load_log(c.c, (*C.inlay_load_params)(unsafe.Pointer(params)))
}

// AttachReader makes a load ask the control for the model's bytes: NextRead and Answer must serve it.
func (c Control) AttachReader(reader *Reader) {
	C.inlay_go_control_attach_reader(c.c, (*C.inlay_reader)(unsafe.Pointer(reader)))
}

// AttachStateReader makes a session that is restored ask the control for its bytes: NextRead and Answer must serve it.
func (c Control) AttachStateReader(reader *StateReader) {
	C.inlay_go_control_attach_state_reader(c.c, (*C.inlay_state_reader)(unsafe.Pointer(reader)))
}

// AttachStateWriter makes a session that is saved leave its bytes with the control: NextRead gives them, Answer takes them.
func (c Control) AttachStateWriter(writer *StateWriter) {
	C.inlay_go_control_attach_state_writer(c.c, (*C.inlay_state_writer)(unsafe.Pointer(writer)))
}

// Cancel ends it at its next report of progress. From any goroutine.
func (c Control) Cancel() { C.inlay_go_control_cancel(c.c) }

// Progress is what was reported last. From any goroutine.
func (c Control) Progress() (done, total uint64) {
	C.inlay_go_control_progress(c.c, (*C.uint64_t)(unsafe.Pointer(&done)), (*C.uint64_t)(unsafe.Pointer(&total)))
	return done, total
}

// NextMessage takes the oldest message; false if there is none. One goroutine at a time.
func (c Control) NextMessage() (level LogLevel, text string, ok bool) {
	var data *C.char
	var length C.size_t
	if C.inlay_go_control_message(c.c, (*C.inlay_log_level)(unsafe.Pointer(&level)), &data, &length) == 0 {
		return level, "", false
	}
	return level, c.take(data, length), true
}

// WaitMessage waits for a message and takes it; false after EndLog when there is none left. One goroutine at a time.
func (c Control) WaitMessage() (level LogLevel, text string, ok bool) {
	var data *C.char
	var length C.size_t
	if C.inlay_go_control_wait_message(c.c, (*C.inlay_log_level)(unsafe.Pointer(&level)), &data, &length) == 0 {
		return level, "", false
	}
	return level, c.take(data, length), true
}

func (c Control) take(data *C.char, length C.size_t) string {
	text := C.GoStringN(data, C.int(length))
	C.inlay_go_control_drop_message(c.c)
	return text
}

// NextRead waits until the call wants bytes, or has some; into is C's memory, to be filled, or only read where it has some, and then
// answered. It returns false after Finish.
func (c Control) NextRead() (offset uint64, into []byte, ok bool) {
	var address unsafe.Pointer
	var n uint64
	asked := C.inlay_go_control_next_read(c.c, (*C.uint64_t)(unsafe.Pointer(&offset)), &address,
		(*C.uint64_t)(unsafe.Pointer(&n)))
	if asked == 0 {
		return 0, nil, false
	}
	return offset, unsafe.Slice((*byte)(address), n), true
}

// Answer lets the call go on: 0 if all bytes were read or taken, else a system error number.
func (c Control) Answer(systemError int32) { C.inlay_go_control_answer(c.c, C.int32_t(systemError)) }

// Finish tells NextRead that the call has returned.
func (c Control) Finish() { C.inlay_go_control_finish(c.c) }

// EndLog tells WaitMessage that the engine is gone.
func (c Control) EndLog() { C.inlay_go_control_end_log(c.c) }
