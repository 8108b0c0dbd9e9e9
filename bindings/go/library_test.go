package inlay

import (
	"debug/pe"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"inlay.dev/inlay/raw"
)

// Each of these tests runs in a process of its own, because a process loads one library, once. The libraries that are
// none, or of another ABI, come from the build: INLAY_TEST_LIBRARIES is their folder.
func otherLibrary(t *testing.T, name string) string {
	t.Helper()
	folder := os.Getenv("INLAY_TEST_LIBRARIES")
	if folder == "" {
		t.Skip("INLAY_TEST_LIBRARIES is not set")
	}
	return filepath.Join(folder, name, libraryNames()[0])
}

// wantNoLibrary fails unless the error says that there is no library, and names all the words.
func wantNoLibrary(t *testing.T, err error, words ...string) {
	t.Helper()
	e := wantStatus(t, err, StatusNotFound)
	if !errors.Is(err, ErrNoLibrary) {
		t.Errorf("%v does not match ErrNoLibrary", err)
	}
	for _, word := range words {
		if !strings.Contains(e.Message, word) {
			t.Errorf("%q does not name %s", e.Message, word)
		}
	}
}

func TestWithoutALibrary(t *testing.T) {
	if !inChild(t, "") {
		return
	}
	options := testOptions()
	_, err := Load(background, testModel, &options)
	wantNoLibrary(t, err, append(libraryNames(), "INLAY_LIBRARY")...)
	_, err = Devices()
	wantNoLibrary(t, err)
	_, _, err = ABIVersion()
	wantNoLibrary(t, err)
	_, err = MemoryPlan(testModel, nil)
	wantNoLibrary(t, err)
	wantNoLibrary(t, OpenLibrary("no/such/library.so"), "no/such/library.so")
	if OpenLibrary("") == nil || OpenLibrary("a\x00b") == nil {
		t.Error("a path that is none was accepted")
	}
	// The raw layer says so, too, and does not crash.
	var failed raw.Error
	if status := raw.Prefill(nil, nil, 0, nil, &failed); status != StatusInvalidState || !strings.Contains(failed.Text(), "inlay_prefill") {
		t.Error(status, failed.Text())
	}
	if raw.VersionString() != "" || raw.ABIVersion() != 0 || raw.DeviceCount() != 0 || raw.Path() != "" {
		t.Error("functions of no library answer")
	}
	raw.Free(nil)
	raw.SessionCancel(nil)
}

func TestTheEnvironmentsLibraryIsTheOnlyOneTried(t *testing.T) {
	if !inChild(t, "no/such/library.so") {
		return
	}
	_, err := Version()
	wantNoLibrary(t, err, "no/such/library.so")
	if strings.Contains(err.Error(), "libinlay") {
		t.Error(err)
	}
}

func TestALibraryThatIsNotInlay(t *testing.T) {
	other := "libpthread.so.0"
	if runtime.GOOS == "windows" {
		other = "ws2_32.dll"
	}
	if !inChild(t, other) {
		return
	}
	_, err := Version()
	wantNoLibrary(t, err, other+" is not an Inlay library")
}

func TestOpenLibrary(t *testing.T) {
	if !inChild(t, "no/such/library.so") {
		return
	}
	own := os.Getenv(ownVariable)
	if _, err := Version(); err == nil {
		t.Error("a library that is none was opened")
	}
	if err := OpenLibrary(own); err != nil { // The program's path comes before the environment's.
		t.Fatal(err)
	}
	if version, err := Version(); err != nil || version == "" || raw.Path() != own {
		t.Error(version, err)
	}
	if err := OpenLibrary(own); err != nil {
		t.Error(err)
	}
	wantStatus(t, OpenLibrary("another.so"), StatusInvalidState)
	if raw.Open(own) == nil {
		t.Error("raw.Open opened a second library")
	}
	major, minor, err := ABIVersion()
	if err != nil || major != raw.ABIMajor || minor < raw.ABIMinor {
		t.Error(major, minor, err)
	}
}

// A library of an older minor ABI serves what it has.
func TestAnOlderLibrary(t *testing.T) {
	if !inChild(t, otherLibrary(t, "older_library")) {
		return
	}
	if major, minor, err := ABIVersion(); err != nil || major != 1 || minor != 0 {
		t.Error(major, minor, err)
	}
	var failed raw.Error
	status := raw.ProfileStep(nil, nil, &failed)
	if status != StatusUnsupported || failed.Status != status || !strings.Contains(failed.Text(), "inlay_profile_step") ||
		!strings.Contains(failed.Text(), "ABI 1.0") {
		t.Error(status, failed.Text())
	}
	if status := raw.ProfileStep(nil, nil, nil); status != StatusUnsupported {
		t.Error(status)
	}
	status = raw.ConstraintCreate(nil, nil, nil, &failed)
	if status != StatusUnsupported || !strings.Contains(failed.Text(), "inlay_constraint_create") {
		t.Error(status, failed.Text())
	}
	raw.ConstraintFree(nil)                                             // It does nothing.
	if status := raw.MetaCount(nil, nil, &failed); status != StatusOK { // It is of ABI 1.0 and does nothing there.
		t.Error(status, failed.Text())
	}
}

func TestLibrariesThatCannotBeUsed(t *testing.T) {
	for name, words := range map[string]string{
		"lacking_library":       "lacks the function inlay_",
		"go_incomplete_library": "lacks the function inlay_",
	} {
		library := otherLibrary(t, name)
		if !inChild(t, library) {
			continue
		}
		wantNoLibrary(t, OpenLibrary(library), library, words)
	}
}

// It is there, but of no use, and the error says which of the two is newer.
func TestALibraryOfAnotherMajorABI(t *testing.T) {
	library := otherLibrary(t, "other_library")
	if !inChild(t, library) {
		return
	}
	options := testOptions()
	_, err := Load(background, testModel, &options)
	for _, err := range []error{err, OpenLibrary(library)} {
		if e := wantStatus(t, err, StatusUnsupported); !errors.Is(err, ErrOtherABI) || errors.Is(err, ErrNoLibrary) ||
			e.Message != library+" offers ABI 2.0, the program needs 1.x" {
			t.Error(err)
		}
	}
}

// The program itself does not need the library.
func TestTheProgramIsNotLinkedToTheLibrary(t *testing.T) {
	if runtime.GOOS == "windows" {
		program, err := pe.Open(os.Args[0])
		if err != nil {
			t.Fatal(err)
		}
		defer program.Close()
		imported, err := program.ImportedSymbols() // each with the library that it is of
		if all := strings.ToLower(strings.Join(imported, " ")); err != nil || !strings.Contains(all, "kernel32") || strings.Contains(all, "inlay") {
			t.Errorf("%s %v", imported, err)
		}
		return
	}
	ldd, err := exec.LookPath("ldd")
	if err != nil {
		t.Skip("no ldd")
	}
	output, err := exec.Command(ldd, os.Args[0]).CombinedOutput()
	if err != nil || !strings.Contains(string(output), "libc") || strings.Contains(string(output), "inlay") {
		t.Errorf("%s %v", output, err)
	}
}
