package raw

/*
#include <stdlib.h>
#include "loader.h"
*/
import "C"

import (
	"errors"
	"strings"
	"sync"
	"unsafe"
)

var (
	openMutex sync.Mutex
	openPath  string
)

// Built tells if the program was built with cgo.
const Built = true

// WithoutCgo says why nothing works in a build without cgo.
const WithoutCgo = ""

// Open loads the library file, which then stays until the process ends. A process has one library: a second Open is an
// error.
func Open(path string) error {
	openMutex.Lock()
	defer openMutex.Unlock()
	if openPath != "" {
		return errors.New(openPath + " is loaded already")
	}
	if path == "" || strings.IndexByte(path, 0) >= 0 {
		return errors.New("the path of the library is empty or has a zero byte inside")
	}
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var message [512]C.char
	var version C.uint32_t
	if C.inlay_go_open(name, &version, &message[0], C.size_t(len(message))) != 0 {
		text := C.GoString(&message[0])
		if version == 0 || version>>16 == ABIMajor {
			return errors.New(text)
		}
		return &OtherABI{Path: path, Major: int(version >> 16), Minor: int(version & 0xffff), message: text}
	}
	openPath = path
	return nil
}

// Path is what Open loaded, empty before.
func Path() string {
	openMutex.Lock()
	defer openMutex.Unlock()
	return openPath
}

// Calloc gives zeroed memory outside of Go's heap, for structs that point to other structs: C may not be handed a Go
// pointer to Go pointers. It panics if there is none left, as Go's own allocation does.
func Calloc(size uintptr) unsafe.Pointer {
	p := C.calloc(1, C.size_t(size))
	if p == nil {
		panic("inlay: out of memory")
	}
	return p
}

// Release gives memory of Calloc back.
func Release(p unsafe.Pointer) { C.free(p) }
