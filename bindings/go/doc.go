// Package inlay runs a language model inside the program.
//
//	engine, err := inlay.Load(ctx, "model.gguf", nil)
//	...
//	defer engine.Close()
//	session, err := engine.NewSession(nil)
//	...
//	defer session.Close()
//	generation, err := session.Generate(ctx, "Once upon a time", nil)
//	...
//	for {
//		event, err := generation.Next()
//		if err == io.EOF {
//			break
//		}
//		...
//		fmt.Print(event.Text)
//	}
//
// The package needs the Inlay library, a shared library that is loaded at the first call that needs it: from the path
// given to OpenLibrary, else from the path in the environment variable INLAY_LIBRARY, else under its usual name from
// where the system looks for libraries. A program starts without it; then the first call fails with an error that
// matches ErrNoLibrary and lists what was tried. A program that is built without cgo compiles, and every call says so.
//
// # Goroutines
//
// An Engine may be used by any number of goroutines. A Session is one sequence, used by one goroutine at a time; a call
// that finds it in use returns an error that matches StatusBusy. It has one Generation at a time: of two, the older one
// ends with an error. Generations that goroutines run at a time share decode steps: the library runs one for
// all that wait. Cancel, Info and Close may be called at any time from any goroutine; a request to
// stop belongs to the generation under way and has no effect on later ones. A Queue may be used by any number of goroutines.
// So may a Constraint, which any number of sessions and requests share. Engines, sessions, queues and constraints may be closed in any
// order and more than once; what is never closed is freed some time after it became unreachable.
//
// # Requests
//
// Beside sessions, which the program steps, an engine takes requests: a Queue is where they are submitted and where what became of
// them is collected; Engine.Ask returns the Answer to a single one. Engine.SetThread gives the engine a thread that computes them,
// or the program calls Engine.Run.
//
// # Constraints
//
// A Constraint, made by Engine.NewConstraint, says which texts may be written: JSON of a schema, what a grammar or a regular expression
// allows, or one of some choices. It is a field of SessionOptions, and so of a Request, too; Session.SetConstraint changes it.
//
// # Messages
//
// A MessageParser, made by Engine.NewMessageParser, takes what a model writes apart while it is drawn: reasoning, content and calls of
// tools. ConstraintOptions.Message makes a model call them as their schemas have it.
//
// # Errors
//
// Errors of the library are of type *Error and match their status:
//
//	if errors.Is(err, inlay.StatusContextFull) {
//
// That one says that a prompt does not fit. A generation that reaches the context's end has no error: its last event
// finishes with FinishContextFull, and io.EOF follows as behind any other.
//
// Calls on what is closed match ErrClosed. A call that its context ended matches StatusCancelled and the context's error.
package inlay
