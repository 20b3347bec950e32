package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Marked reports whether the process names dir in its command line or its environment, or works in it. It returns an
// error if they cannot be read.
func (id Identity) Marked(dir string) (bool, error) {
	proc := "/proc/" + strconv.Itoa(id.PID)
	var errs []error
	for _, name := range []string{"/cmdline", "/environ"} {
		b, err := os.ReadFile(proc + name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if bytes.Contains(b, []byte(dir)) {
			return true, nil
		}
	}
	cwd, err := os.Readlink(proc + "/cwd")
	if err != nil {
		errs = append(errs, err)
	} else if cwd == dir || strings.HasPrefix(cwd, dir+"/") {
		return true, nil
	}
	if len(errs) > 0 {
		return false, fmt.Errorf("looking for the marker of process %d: %w", id.PID, errors.Join(errs...))
	}
	return false, nil
}
