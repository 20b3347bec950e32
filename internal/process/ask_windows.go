package process

import (
	"errors"
	"os"
)

// askToEnd is unsupported: Windows has no signal that ends a process of another console.
func askToEnd(*os.Process) error { return errors.ErrUnsupported }
