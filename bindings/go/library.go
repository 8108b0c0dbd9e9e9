package inlay

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"inlay.dev/inlay/raw"
)

var libraryMutex sync.Mutex

// OpenLibrary loads the library from a file. It need not be called where the environment variable INLAY_LIBRARY holds
// the path or the system finds the library by its name. A process loads one library, once: another path than the loaded
// one is an error.
func OpenLibrary(path string) error {
	libraryMutex.Lock()
	defer libraryMutex.Unlock()
	loaded := raw.Path()
	if loaded != "" && loaded != path {
		return fail("open library", StatusInvalidState, "%s is loaded already", loaded)
	}
	if loaded != "" {
		return nil
	}
	return openFirst([]string{path})
}

// openDefault loads the library if that has not been done.
func openDefault() error {
	libraryMutex.Lock()
	defer libraryMutex.Unlock()
	if raw.Path() != "" {
		return nil
	}
	if path := os.Getenv("INLAY_LIBRARY"); path != "" {
		return openFirst([]string{path})
	}
	return openFirst(libraryNames())
}

// libraryNames are those that the system is asked for.
func libraryNames() []string {
	switch runtime.GOOS {
	case "windows":
		return []string{"libinlay.dll"}
	case "darwin":
		return []string{"libinlay.1.dylib", "libinlay.dylib"}
	}
	return []string{"libinlay.so.1", "libinlay.so"}
}

func openFirst(paths []string) error {
	if !raw.Built {
		return &Error{Op: "open library", Status: StatusUnsupported, cause: ErrNoLibrary, Message: raw.WithoutCgo}
	}
	var tried []string
	for _, path := range paths {
		err := raw.Open(path)
		if err == nil {
			return nil
		}
		if other, ok := err.(*raw.OtherABI); ok {
			return &Error{Op: "open library", Status: StatusUnsupported, cause: ErrOtherABI, Message: other.Error()}
		}
		tried = append(tried, err.Error())
	}
	return &Error{Op: "open library", Status: StatusNotFound, cause: ErrNoLibrary,
		Message: "no Inlay library: " + strings.Join(tried, "; ") + "; INLAY_LIBRARY can name the file"}
}

// Version is the library's version, such as 0.1.0.
func Version() (string, error) {
	if err := openDefault(); err != nil {
		return "", err
	}
	return raw.VersionString(), nil
}

// ABIVersion is the ABI that the library offers.
func ABIVersion() (major, minor int, err error) {
	if err := openDefault(); err != nil {
		return 0, 0, err
	}
	version := raw.ABIVersion()
	return int(version >> 16), int(version & 0xffff), nil
}

// Device is a device that can run a model.
type Device struct {
	// Kind is DeviceCPU or DeviceCUDA.
	Kind DeviceKind `json:"kind"`
	// Index is its number among the devices of its kind, as in LoadOptions.
	Index int `json:"index"`
	// Name is the product's name.
	Name string `json:"name"`
	// Features are what the kernels will use of it, such as an instruction set.
	Features string `json:"features"`
	// Units are processors that this process may use, or multiprocessors of a GPU.
	Units int `json:"units"`
	// TotalBytes and FreeBytes are its memory, and what of it is free now.
	TotalBytes uint64 `json:"total_bytes"`
	FreeBytes  uint64 `json:"free_bytes"`
}

// Devices lists the devices of the machine; the processor is the first.
func Devices() ([]Device, error) {
	if err := openDefault(); err != nil {
		return nil, err
	}
	devices := make([]Device, raw.DeviceCount())
	for i := range devices {
		info := raw.DeviceInfo{StructSize: uint32(unsafe.Sizeof(raw.DeviceInfo{}))}
		err := check("devices", func(err *raw.Error) Status { return raw.DeviceGet(int32(i), &info, err) })
		if err != nil {
			return nil, err
		}
		devices[i] = Device{Kind: info.Kind, Index: int(info.Index), Name: textOf(info.Name[:]),
			Features: textOf(info.Features[:]), Units: int(info.NUnits), TotalBytes: info.TotalBytes,
			FreeBytes: info.FreeBytes}
	}
	return devices, nil
}

// textOf is the text in a buffer that a zero ends.
func textOf(buf []byte) string {
	if end := bytes.IndexByte(buf, 0); end >= 0 {
		buf = buf[:end]
	}
	return string(buf)
}
