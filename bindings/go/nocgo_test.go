//go:build !cgo

package inlay

import (
	"bytes"
	"errors"
	"testing"

	"inlay.dev/inlay/raw"
)

// Without cgo every call says that, in the same words.
func TestWithoutCgo(t *testing.T) {
	options := testOptions()
	for name, call := range map[string]func() error{
		"OpenLibrary": func() error { return OpenLibrary("libinlay.so.1") },
		"Version":     func() error { _, err := Version(); return err },
		"ABIVersion":  func() error { _, _, err := ABIVersion(); return err },
		"Devices":     func() error { _, err := Devices(); return err },
		"Load":        func() error { _, err := Load(background, testModel, &options); return err },
		"LoadBytes":   func() error { _, err := LoadBytes(background, []byte{1}, nil); return err },
		"LoadReader":  func() error { _, err := LoadReader(background, bytes.NewReader([]byte{1}), 1, nil); return err },
		"MemoryPlan":  func() error { _, err := MemoryPlan(testModel, &options); return err },
		"Explain":     func() error { _, _, err := Explain(testModel, &options); return err },
		"Convert":     func() error { return Convert(background, testModel, "made.gguf", ConvertF16, nil) },
	} {
		if e := wantStatus(t, call(), StatusUnsupported); !errors.Is(e, ErrNoLibrary) || e.Message != raw.WithoutCgo {
			t.Errorf("%s: %v", name, e)
		}
	}
	var failed raw.Error
	if status := raw.Prefill(nil, nil, 0, nil, &failed); status != StatusUnsupported || failed.Text() != raw.WithoutCgo {
		t.Error(status, failed.Text())
	}
}
