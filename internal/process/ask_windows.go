package process

import (
	"errors"
	"os"
)

// askToEnd is unsupported: Windows has no signal by which a process of another console can be ended.
func askToEnd(*os.Process) error { return errors.ErrUnsupported }
