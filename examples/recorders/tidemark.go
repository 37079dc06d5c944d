// Package tidemark writes down what clients do: a line of JSON for the beginning and one for the end of each operation, as
// "tidemark check" reads them. Goroutines may share it. It needs nothing but Go: copy this file into a folder tidemark of your module.
package tidemark

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

// History is a file of operations.
type History struct {
	mutex sync.Mutex
	file  *os.File
	begun time.Time
	err   error
}

// Create begins the file anew.
func Create(path string) (*History, error) {
	file, err := os.Create(path)
	return &History{file: file, begun: time.Now()}, err
}

// Close ends the file; it returns the first error that writing it had.
func (h *History) Close() error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if err := h.file.Close(); h.err == nil {
		h.err = err
	}
	return h.err
}

type line struct {
	Kind    string `json:"kind"`
	Time    int64  `json:"time"`
	Process string `json:"process"`
	Type    string `json:"type"`
	F       string `json:"f"`
	Value   any    `json:"value"`
	Final   bool   `json:"final,omitempty"`
	Error   string `json:"error,omitempty"`
}

// Operation is one operation of a process, which does one thing at a time.
type Operation struct {
	history *History
	half    line
	ended   bool
}

// Operation begins one: call it before the client does, and defer its End. The value is whatever JSON can say.
func (h *History) Operation(process, f string, value any) *Operation {
	return h.begin(line{Process: process, F: f, Value: value})
}

// FinalRead begins a read of what is there in the end, when all else is done.
func (h *History) FinalRead(process, f string, value any) *Operation {
	return h.begin(line{Process: process, F: f, Value: value, Final: true})
}

// Ok says that it was done, and what came of it.
func (o *Operation) Ok(value any) { o.end("ok", value, nil) }

// Fail says that it certainly was not done, nor will be.
func (o *Operation) Fail(err error) { o.end("fail", o.half.Value, err) }

// Info says that it may have been done, or will be, or not: a time-out, a broken connection.
func (o *Operation) Info(err error) { o.end("info", o.half.Value, err) }

// End is for defer: without a word of how the operation went it counts as unknown.
func (o *Operation) End() {
	if !o.ended {
		o.Info(fmt.Errorf("nobody said how it went"))
	}
}

func (h *History) begin(half line) *Operation {
	half.Kind = "op"
	h.write(half, "invoke")
	return &Operation{history: h, half: half}
}

func (o *Operation) end(how string, value any, err error) {
	if o.ended {
		panic(fmt.Sprintf("this %s of %s has ended: say once how it went", o.half.F, o.half.Process))
	}
	o.ended = true
	half := o.half
	half.Value = value
	if err != nil {
		half.Error = err.Error()
	}
	o.history.write(half, how)
}

func (h *History) write(half line, how string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	half.Time, half.Type = time.Since(h.begun).Microseconds(), how
	text, err := json.Marshal(half)
	if err == nil {
		_, err = h.file.Write(append(text, '\n'))
	}
	if h.err == nil {
		h.err = err
	}
}
