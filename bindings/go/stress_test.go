package inlay

import (
	"context"
	"errors"
	"io"
	"math/rand"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	stressRoutines = 64
	stressKinds    = 16 // of generations: each has a seed and a length of its own
	stressPrompt   = "Once upon a time"
)

// stress is what jobs of many goroutines share: the engine, the right texts of all kinds, and what the jobs came to.
type stress struct {
	t      *testing.T
	engine *Engine
	right  []string
	// whole are texts that ended, cut those that another goroutine ended, left those that their own did.
	begun, whole, cut, left, wrong atomic.Int64
}

func kindOptions(kind int) *GenerateOptions {
	return &GenerateOptions{Sampler: &Sampler{Temperature: 0.9, Seed: uint64(kind)}, MaxTokens: 8 + kind%7}
}

// session is a new one. Sessions that nobody closes take places until the garbage collector finds them.
func (s *stress) session() *Session {
	for {
		session, err := s.engine.NewSession(nil)
		if err == nil {
			return session
		}
		if !errors.Is(err, StatusSessionLimit) {
			s.t.Error(err)
			runtime.Goexit()
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

// took counts a job, and compares its text, or the part of it that there is, with the right one.
func (s *stress) took(kind int, text string, count *atomic.Int64) {
	count.Add(1)
	if right := s.right[kind]; text != right && (count == &s.whole || !strings.HasPrefix(right, text)) {
		s.wrong.Add(1)
	}
}

// tookAny is took where another goroutine may have ended the generation in one of these ways.
func (s *stress) tookAny(kind int, text string, err error, ways ...error) {
	if err == nil {
		s.took(kind, text, &s.whole)
		return
	}
	for _, way := range ways {
		if errors.Is(err, way) {
			s.took(kind, text, &s.cut)
			return
		}
	}
	s.t.Error(err)
}

// textOf is what the session writes, up to n events of it.
func (s *stress) textOf(ctx context.Context, session *Session, kind, n int) (string, error) {
	generation, err := session.Generate(ctx, stressPrompt, kindOptions(kind))
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for ; n > 0; n-- {
		event, err := generation.Next()
		if err != nil {
			return text.String(), err
		}
		text.WriteString(event.Text)
	}
	return text.String(), nil
}

// wholeText is all that the session writes.
func wholeText(ctx context.Context, session *Session, kind int) (string, error) {
	generation, err := session.Generate(ctx, stressPrompt, kindOptions(kind))
	if err != nil {
		return "", err
	}
	return generation.Text()
}

// endedBy is a generation that another goroutine ends at some time.
func (s *stress) endedBy(kind int, wait time.Duration, end func(*Session), ways ...error) {
	session := s.session()
	defer session.Close()
	ended := make(chan struct{})
	go func() {
		time.Sleep(wait)
		end(session)
		close(ended)
	}()
	text, err := wholeText(background, session, kind)
	<-ended
	s.tookAny(kind, text, err, ways...)
}

// client reads n bytes of what a generation writes and vanishes.
func (s *stress) client(kind, n int) {
	session := s.session()
	defer session.Close()
	reader, writer := io.Pipe()
	read := make(chan string)
	go func() {
		text, _ := io.ReadAll(io.LimitReader(reader, int64(n)))
		reader.Close()
		read <- string(text)
	}()
	generation, err := session.Generate(background, stressPrompt, kindOptions(kind))
	if err == nil {
		_, err = generation.WriteTo(writer)
	}
	writer.Close()
	if err != nil && err != io.ErrClosedPipe {
		s.t.Error(err)
	}
	s.took(kind, <-read, &s.left)
}

// listener reads n events of a channel, and then ends the context.
func (s *stress) listener(kind, n int) {
	session := s.session()
	defer session.Close()
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	generation, err := session.Generate(ctx, stressPrompt, kindOptions(kind))
	if err != nil {
		s.t.Error(err)
		return
	}
	text, events := "", generation.Channel()
	for ; n > 0; n-- {
		text += (<-events).Text
	}
	s.took(kind, text, &s.left)
}

// child is a generation that a fork goes on with when its parent is closed.
func (s *stress) child(kind, n int) {
	parent := s.session()
	text, err := s.textOf(background, parent, kind, n)
	var child *Session
	if err == nil {
		child, err = parent.Fork()
	}
	parent.Close()
	if err == nil {
		defer child.Close()
		var rest string
		rest, err = child.Continue(background).Text()
		text += rest
	}
	s.tookAny(kind, text, err)
}

// together are generations that share their steps.
func (s *stress) together(kinds ...int) {
	kindOf, texts, sessions := map[*Session]int{}, map[*Session]string{}, []*Session{}
	for _, kind := range kinds {
		session := s.session()
		defer session.Close()
		if _, err := session.Generate(background, stressPrompt, kindOptions(kind)); err != nil {
			s.t.Error(err)
			return
		}
		kindOf[session], sessions = kind, append(sessions, session)
	}
	for len(sessions) > 0 {
		events, err := DecodeStep(background, sessions, nil)
		if err != nil {
			s.t.Error(err)
			return
		}
		sessions = sessions[:0]
		for _, event := range events {
			if texts[event.Session] += event.Text; event.Finish == FinishNone {
				sessions = append(sessions, event.Session)
			}
		}
	}
	for session, text := range texts {
		s.took(kindOf[session], text, &s.whole)
	}
	s.whole.Add(int64(1 - len(kinds))) // one job
}

func (s *stress) job(random *rand.Rand) {
	kind, n := random.Intn(stressKinds), random.Intn(5)
	wait := time.Duration(random.Intn(40_000)) * time.Microsecond
	switch random.Intn(12) {
	case 0, 1: // left in the middle, and closed; or forgotten
		session := s.session()
		if n%2 == 0 {
			defer session.Close()
		}
		text, err := s.textOf(background, session, kind, n)
		if err != nil {
			s.t.Error(err)
		}
		s.took(kind, text, &s.left)
	case 2:
		ctx, stop := context.WithTimeout(background, wait)
		session := s.session()
		text, err := wholeText(ctx, session, kind)
		stop()
		session.Close()
		s.tookAny(kind, text, err, context.DeadlineExceeded)
	case 3:
		s.endedBy(kind, wait, (*Session).Cancel, StatusCancelled)
	case 4:
		s.endedBy(kind, wait, func(session *Session) { session.Close() }, ErrClosed, StatusCancelled)
	case 5:
		s.client(kind, 5*n)
	case 6:
		s.listener(kind, n)
	case 7:
		s.child(kind, n)
	case 8:
		s.together(kind, random.Intn(stressKinds))
	default:
		session := s.session()
		text, err := wholeText(background, session, kind)
		session.Close()
		s.tookAny(kind, text, err)
	}
}

// run does jobs on all goroutines at once.
func (s *stress) run(jobs int64) {
	var all sync.WaitGroup
	for i := 0; i < stressRoutines; i++ {
		all.Add(1)
		go func(seed int64) {
			defer all.Done()
			for random := rand.New(rand.NewSource(seed)); s.begun.Add(1) <= jobs; {
				s.job(random)
			}
		}(int64(i))
	}
	all.Wait()
}

// held is what this process holds: goroutines, threads of the library (those of Go stay for later goroutines), open files. Windows
// does not tell the library's threads and files from Go's: there it is goroutines alone.
type held struct{ routines, threads, files int }

func heldNow(t *testing.T) held {
	if runtime.GOOS == "windows" {
		return held{routines: runtime.NumGoroutine()}
	}
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Skip("the system does not tell: ", err)
	}
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	threads := 0
	for _, task := range tasks {
		if name, err := os.ReadFile("/proc/self/task/" + task.Name() + "/comm"); err == nil && strings.HasPrefix(string(name), "inlay-") {
			threads++
		}
	}
	return held{runtime.NumGoroutine(), threads, len(files)}
}

// heldSettled waits until that does not change any more, as it does while what an earlier test has left ends.
func heldSettled(t *testing.T) held {
	settled := heldNow(t)
	for same := 0; same < 10; same++ {
		time.Sleep(10 * time.Millisecond)
		if now := heldNow(t); now != settled {
			settled, same = now, 0
		}
	}
	return settled
}

// wantHeld waits until this is held: what has ended is in the system's lists for a moment longer.
func wantHeld(t *testing.T, want held) {
	t.Helper()
	got := heldNow(t)
	for i := 0; i < 1000 && got != want; i++ {
		time.Sleep(10 * time.Millisecond)
		got = heldNow(t)
	}
	if got != want {
		t.Errorf("%+v, expected %+v", got, want)
	}
}

// expectNothingLeft collects what nobody has closed, and waits until the engine has no sessions.
func (s *stress) expectNothingLeft() {
	var stats Stats
	for i := 0; i < 1000; i++ {
		runtime.GC()
		if stats, _ = s.engine.Stats(); stats.NSessions == 0 && stats.NKVBlocksUsed == 0 && stats.NKVBlocks > 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Errorf("%+v", stats)
}

// expectFaultsNoticed: the same figures notice texts of other seeds, and what is still there.
func (s *stress) expectFaultsNoticed() {
	check := stress{right: s.right}
	for kind := range s.right {
		other := s.right[(kind+1)%stressKinds]
		check.took(kind, other, &check.whole)
		check.took(kind, other, &check.left)
	}
	if check.wrong.Load() != 2*stressKinds {
		s.t.Errorf("%d wrong texts were noticed, expected %d: %q", check.wrong.Load(), 2*stressKinds, s.right)
	}
	before, session := heldSettled(s.t), s.session()
	prefill(s.t, session, 1)
	stats, err := s.engine.Stats()
	if err != nil || stats.NSessions != 1 || stats.NKVBlocksUsed == 0 {
		s.t.Error(stats, err)
	}
	session.Close()
	waiting := make(chan struct{})
	go func() { <-waiting }()
	file, err := os.Open(testModel)
	engine := engineWith(s.t, nil)
	if err != nil {
		s.t.Error(err)
	}
	more := held{before.routines + 1, before.threads + 1, before.files + 1}
	if runtime.GOOS == "windows" {
		more = held{routines: before.routines + 1}
	}
	wantHeld(s.t, more)
	engine.Close()
	file.Close()
	close(waiting)
	wantHeld(s.t, before)
}

// Goroutines whose jobs are cancelled, closed, left, forgotten and forked at random, or whose clients vanish: every text is right
// as far as it goes, and nothing is left. INLAY_TEST_GENERATIONS says how many jobs.
func TestStress(t *testing.T) {
	jobs := int64(500)
	if given := os.Getenv("INLAY_TEST_GENERATIONS"); given != "" {
		var err error
		if jobs, err = strconv.ParseInt(given, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	before := heldSettled(t)
	engine := engineWith(t, func(o *LoadOptions) { o.Context, o.MaxSessions = 64, 3*stressRoutines })
	s := &stress{t: t, engine: engine}
	for kind := 0; kind < stressKinds; kind++ {
		session := s.session()
		text, err := wholeText(background, session, kind)
		if err != nil {
			t.Fatal(err)
		}
		session.Close()
		s.right = append(s.right, text)
	}
	s.expectFaultsNoticed()
	s.run(jobs)
	whole, cut, left := s.whole.Load(), s.cut.Load(), s.left.Load()
	t.Logf("%d jobs: %d whole, %d cut, %d left, %d wrong", jobs, whole, cut, left, s.wrong.Load())
	if s.wrong.Load() != 0 || whole+cut+left != jobs || whole < jobs/4 || cut == 0 || left < jobs/8 {
		t.Error("expected none wrong, and some of each")
	}
	s.expectNothingLeft()
	engine.Close()
	wantHeld(t, before)
}
