//go:build !unix && !windows

package fault

var (
	host                        []row
	refused, notEmpty, heldOpen []error
	closedPipe                  []error
)
