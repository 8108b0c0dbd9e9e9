package inlay

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// Enumerations are text in JSON, and come back; what has no name is refused.
func TestEnumerationsAsText(t *testing.T) {
	type all struct {
		Status  Status
		Device  DeviceKind
		KV      KVDtype
		Level   LogLevel
		Finish  FinishReason
		Event   EventKind
		Token   TokenKind
		Form    ProfileForm
		Weights WeightDtype
		Convert ConvertType
		Pooling Pooling
		Request RequestKind
		Became  RequestEventKind
		Wait    WaitKind
		Kind    ConstraintKind
		State   ConstraintState
	}
	for _, value := range []all{{Became: RequestEventTokens, Wait: WaitEventfd}, {StatusKVFull, DeviceCUDA, KVFP8, LogOff, FinishStopString, EventFinished, TokenUnknown, ProfileTrace,
		WeightQ4KM, ConvertQ6K, PoolingFirst, RequestGenerate, RequestEventEnd, WaitWindowsEvent, ConstraintChoices, ConstraintStateDead}} {
		text, err := json.Marshal(value)
		var back all
		if err != nil || json.Unmarshal(text, &back) != nil || back != value {
			t.Errorf("%s %+v %v", text, back, err)
		}
	}
	if text, err := json.Marshal(map[FinishReason]LogLevel{FinishContextFull: LogOff}); string(text) != `{"CONTEXT_FULL":"OFF"}` {
		t.Errorf("%s %v", text, err)
	}
	for status := StatusOK; status <= StatusQueueFull; status++ {
		var back Status
		text, err := status.MarshalText()
		if err != nil || back.UnmarshalText(text) != nil || back != status {
			t.Errorf("%s %v", text, err)
		}
	}
	if text, err := DeviceKind(99).MarshalText(); err == nil {
		t.Errorf("99 is %s", text)
	}
	for _, name := range []string{"", "UNKNOWN", "cuda", "FINISH_NONE"} {
		device := DeviceCPU
		if err := device.UnmarshalText([]byte(name)); err == nil || device != DeviceCPU {
			t.Errorf("%q is %s", name, device)
		}
	}
}

// What the package tells is JSON with the C interface's names, of which nothing is lost on the way.
func TestJSON(t *testing.T) {
	engine := engineWith(t, nil)
	session := sessionOf(t, engine, &SessionOptions{Sampler: Sampler{Logprobs: 2}})
	prefill(t, session, 1, 2)
	event, err := session.Step()
	if err != nil {
		t.Fatal(err)
	}
	event.Session = nil // It is no value.
	stats, _ := engine.Stats()
	info, _ := session.Info()
	plan, _ := MemoryPlan(testModel, nil)
	devices, _ := Devices()
	token, _ := engine.TokenInfo(1)
	scored, _ := engine.Score(background, [][]int32{{1, 2}}, &ScoreOptions{Logprobs: 2, Against: engine})
	bias := Sampler{Temperature: 0.5, TopK: 4, Bias: []LogitBias{{Token: 3, Bias: -1}}}
	for name, value := range map[string]any{
		`"finish":"NONE"`: event, `"n_vocab":`: engine.Info(), `"n_kv_blocks_used":`: stats, `"generation":1`: info, `"kv_bytes":`: plan,
		`"total_bytes":`: devices[0], `"piece_bytes":`: token, `"bias":[{"token":3,"bias":-1}]`: bias,
		`"level":"ERROR"`: LogMessage{Number: 3, Level: LogError, Text: "x"}, `"logprob":`: event.Top[0],
		`"scored":true`: scored[0][1], `"same_best":true`: *scored[0][1].Against, `"scored":false`: scored[0][0],
		`"kind":"END"`: RequestEvent{Request: 7, Number: 9, User: 1 << 63, Kind: RequestEventEnd, Finish: FinishError, Status: StatusKVFull,
			Message: "x", PromptTokens: 3, CachedTokens: 2, GeneratedTokens: 1, QueuedTime: 4, PromptTime: 5, DecodeTime: 6},
		`"tokens":[{"token":5,`:     RequestEvent{Kind: RequestEventTokens, Tokens: []TokenLogprob{{5, -1}}, Text: "x"},
		`"n_requests":3`:            RunInfo{HasWork: true, NTokens: 2, NRequests: 3},
		`"remarks":["x"]`:           ConstraintInfo{MemoryBytes: 5, Remarks: []string{"x"}},
		`"constraint_state":"DEAD"`: SessionInfo{ConstraintState: ConstraintStateDead},
	} {
		text, err := json.Marshal(value)
		back := reflect.New(reflect.TypeOf(value))
		if err != nil || json.Unmarshal(text, back.Interface()) != nil || !reflect.DeepEqual(back.Elem().Interface(), value) {
			t.Errorf("%s: %v", text, err)
		}
		if !strings.Contains(string(text), name) || strings.ContainsAny(strings.Trim(string(text), "{}")[:2], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") ||
			strings.Contains(string(text), "eserved") || strings.Contains(string(text), "truct") {
			t.Errorf("%s, expected %s", text, name)
		}
	}
}
