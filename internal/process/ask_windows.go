package process

import (
	"errors"
	"fmt"
	"os"
)

// askToEnd is unsupported: Windows has no signal by which a process of another
// console is asked to end.
func askToEnd(*os.Process) error {
	return fmt.Errorf("Windows has no signal for that; press Ctrl-C where it runs, or use the button of its page (filewise serve): %w",
		errors.ErrUnsupported)
}
