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

// printed caches what programs have printed, by sayer.
var printed sync.Map

// sayer identifies a program's file and its state when the program was run.
type sayer struct {
	path, args string
	size       int64
	changed    time.Time
}

// Said runs a program that prints something about itself, such as its version, and returns the output. The output is
// cached as long as the file stays the same, because engines look for their programs at each step of a plan. Errors
// include what the program printed, and are not cached.
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
