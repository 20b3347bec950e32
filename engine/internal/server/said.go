package server

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"filewise/host/machine"
)

// printed holds what programs have printed, by sayer.
var printed sync.Map

// sayer is a program's file as it was when it was run.
type sayer struct {
	path, args string
	size       int64
	changed    time.Time
}

// Said runs a program that prints something about itself, such as its version, and
// returns its output. As long as its file stays the same, a process asks once: engines
// look for their programs at each step of a plan. Errors show what it printed; they are
// not kept.
func Said(ctx context.Context, path string, args ...string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	key := sayer{path, strings.Join(args, "\n"), info.Size(), info.ModTime()}
	if out, known := printed.Load(key); known {
		return out.(string), nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := machine.Command(ctx, path, args...)
	var why strings.Builder
	cmd.Stderr = &why
	out, err := cmd.Output()
	if err != nil && why.Len() > 0 {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(why.String()))
	}
	if err != nil {
		return "", err
	}
	printed.Store(key, string(out))
	return string(out), nil
}
