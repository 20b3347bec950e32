//go:build !unix && !windows

package fault

const MoreFiles, largerFiles = "", ""

var (
	host                        []row
	refused, notEmpty, heldOpen []error
	closedPipe                  []error
)
