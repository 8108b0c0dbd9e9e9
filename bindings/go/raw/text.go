package raw

import "fmt"

// Enumerations are written as text and read from it by their names as the C header has them: KV_FULL. A value without a name
// is refused.

type enum interface {
	~int32
	String() string
}

// textOf is a value's name.
func textOf[E enum](v E) ([]byte, error) {
	if name := v.String(); name != "UNKNOWN" || named(v) {
		return []byte(name), nil
	}
	return nil, fmt.Errorf("inlay: %T has no value %d", v, int32(v))
}

// fromText finds the value of a name. All values are small.
func fromText[E enum](v *E, text []byte) error {
	for i := E(0); i < 64; i++ {
		for _, value := range [2]E{i, -i} {
			if value.String() == string(text) && (string(text) != "UNKNOWN" || named(value)) {
				*v = value
				return nil
			}
		}
	}
	return fmt.Errorf("inlay: %T has no value %q", *v, text)
}

// named tells if a value's name is UNKNOWN because it is called so.
func named(v any) bool { return v == any(TokenUnknown) }

// Error makes a status an error of its own, so that errors.Is can look for it.
func (v Status) Error() string { return "inlay: " + v.String() }

// Text is the error's message.
func (e *Error) Text() string {
	n := e.MessageLen
	if n > ErrorMessageBytes {
		n = ErrorMessageBytes
	}
	return string(e.Message[:n])
}

// OtherABI is the error of a library whose ABI has another major version than the program's.
type OtherABI struct {
	Path         string
	Major, Minor int
	message      string
}

func (e *OtherABI) Error() string { return e.message }

// MarshalText is the value's name.
func (v Status) MarshalText() ([]byte, error) { return textOf(v) }

// UnmarshalText finds the value of a name.
func (v *Status) UnmarshalText(text []byte) error { return fromText(v, text) }

// MarshalText is the value's name.
func (v DeviceKind) MarshalText() ([]byte, error) { return textOf(v) }

// UnmarshalText finds the value of a name.
func (v *DeviceKind) UnmarshalText(text []byte) error { return fromText(v, text) }

// MarshalText is the value's name.
func (v KVDtype) MarshalText() ([]byte, error) { return textOf(v) }

// UnmarshalText finds the value of a name.
func (v *KVDtype) UnmarshalText(text []byte) error { return fromText(v, text) }

// MarshalText is the value's name.
func (v LogLevel) MarshalText() ([]byte, error) { return textOf(v) }

// UnmarshalText finds the value of a name.
func (v *LogLevel) UnmarshalText(text []byte) error { return fromText(v, text) }

// MarshalText is the value's name.
func (v FinishReason) MarshalText() ([]byte, error) { return textOf(v) }

// UnmarshalText finds the value of a name.
func (v *FinishReason) UnmarshalText(text []byte) error { return fromText(v, text) }

// MarshalText is the value's name.
func (v EventKind) MarshalText() ([]byte, error) { return textOf(v) }

// UnmarshalText finds the value of a name.
func (v *EventKind) UnmarshalText(text []byte) error { return fromText(v, text) }

// MarshalText is the value's name.
func (v TokenKind) MarshalText() ([]byte, error) { return textOf(v) }

// UnmarshalText finds the value of a name.
func (v *TokenKind) UnmarshalText(text []byte) error { return fromText(v, text) }

// MarshalText is the value's name.
func (v ProfileForm) MarshalText() ([]byte, error) { return textOf(v) }

// UnmarshalText finds the value of a name.
func (v *ProfileForm) UnmarshalText(text []byte) error { return fromText(v, text) }

// MarshalText is the value's name.
func (v WeightDtype) MarshalText() ([]byte, error) { return textOf(v) }

// UnmarshalText finds the value of a name.
func (v *WeightDtype) UnmarshalText(text []byte) error { return fromText(v, text) }

// MarshalText is the value's name.
func (v ConvertType) MarshalText() ([]byte, error) { return textOf(v) }

// UnmarshalText finds the value of a name.
func (v *ConvertType) UnmarshalText(text []byte) error { return fromText(v, text) }

// MarshalText is the value's name.
func (v Pooling) MarshalText() ([]byte, error) { return textOf(v) }

// UnmarshalText finds the value of a name.
func (v *Pooling) UnmarshalText(text []byte) error { return fromText(v, text) }

// MarshalText is the value's name.
func (v RequestKind) MarshalText() ([]byte, error) { return textOf(v) }

// UnmarshalText finds the value of a name.
func (v *RequestKind) UnmarshalText(text []byte) error { return fromText(v, text) }

// MarshalText is the value's name.
func (v RequestEventKind) MarshalText() ([]byte, error) { return textOf(v) }

// UnmarshalText finds the value of a name.
func (v *RequestEventKind) UnmarshalText(text []byte) error { return fromText(v, text) }

// MarshalText is the value's name.
func (v WaitKind) MarshalText() ([]byte, error) { return textOf(v) }

// UnmarshalText finds the value of a name.
func (v *WaitKind) UnmarshalText(text []byte) error { return fromText(v, text) }

// MarshalText is the value's name.
func (v ConstraintKind) MarshalText() ([]byte, error) { return textOf(v) }

// UnmarshalText finds the value of a name.
func (v *ConstraintKind) UnmarshalText(text []byte) error { return fromText(v, text) }

// MarshalText is the value's name.
func (v ConstraintState) MarshalText() ([]byte, error) { return textOf(v) }

// UnmarshalText finds the value of a name.
func (v *ConstraintState) UnmarshalText(text []byte) error { return fromText(v, text) }
