// Package exitcode is what an error of a command becomes: the code that the program ends with. The codes themselves are
// of [supervisor]; `claude-supervise --help` lists them.
package exitcode

import (
	"errors"
	"fmt"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/view"
)

// An Error ends the program with a code; all there is to say was said.
type Error int

func (e Error) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// A UsageError is a command line that cannot be meant.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }

func (e UsageError) Unwrap() error { return e.Err }

// Usage is a UsageError with a text, as of fmt.Errorf.
func Usage(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// Of is the code that an error ends the program with. An error that has a method ExitsWith knows it itself.
func Of(err error) int {
	var code Error
	var misused UsageError
	var refused *questions.Refusal
	var own interface{ ExitsWith() int } // not ExitCode, which those of processes have that we start
	switch {
	case err == nil:
		return exit.Success
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &own):
		return own.ExitsWith()
	case errors.As(err, &misused), errors.As(err, &refused), view.NoSuchID(err):
		return exit.Usage
	case errors.Is(err, doctor.ErrNoAgent):
		return exit.NoAgent
	case errors.Is(err, supervisor.ErrBug):
		return exit.Internal
	}
	return exit.Failed
}
