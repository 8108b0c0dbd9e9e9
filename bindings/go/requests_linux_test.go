package inlay

import (
	"syscall"
	"testing"
)

func TestTheHandleIsReadyWhileThereIsSomethingToPoll(t *testing.T) {
	engine := engineWith(t, nil)
	queue := queueOf(t, engine, nil)
	kind, handle, err := queue.Handle()
	if err != nil || kind != WaitEventfd {
		t.Fatal(kind, err)
	}
	epoll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(epoll)
	if err := syscall.EpollCtl(epoll, syscall.EPOLL_CTL_ADD, int(handle), &syscall.EpollEvent{Events: syscall.EPOLLIN}); err != nil {
		t.Fatal(err)
	}
	ready := func(milliseconds int) bool {
		for {
			n, err := syscall.EpollWait(epoll, make([]syscall.EpollEvent, 1), milliseconds)
			if err != syscall.EINTR {
				return n == 1
			}
		}
	}
	if ready(0) {
		t.Error("it is ready from the beginning")
	}
	submit(t, queue, Request{Text: "Once", Session: upTo(3)})
	if ready(0) {
		t.Error("it is ready before anything was drawn")
	}
	giveThread(t, engine)
	if !ready(60000) || !ready(0) {
		t.Error("it is not ready, or does not stay so")
	}
	collect(t, queue, 1)
	if ready(0) {
		t.Error("it is ready though all was polled")
	}
}
