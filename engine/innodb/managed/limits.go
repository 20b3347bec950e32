package managed

import (
	"fmt"
	"strconv"
	"strings"

	"filewise"
	"filewise/internal/openfiles"
)

// checkLimits refuses layouts for which the server could not open its files. It
// raises its own limit up to the hard one.
func (d *design) checkLimits() error {
	_, hard, known := openfiles.Limits()
	need := uint64(len(d.Files) + d.Program.Connections() + 200) // 200: system tables, logs, sockets
	if known && hard < need {                                    // what is not known, the server says itself
		return filewise.Errorf(filewise.CodePreflight, "raise it (ulimit -Hn, or LimitNOFILE of the service), or use fewer files",
			"%s and %d connections need %d open files, but the hard limit "+
				"is %d", filewise.FilesName(len(d.Files)), d.Program.Connections(), need, hard)
	}
	return nil
}

// controlConnections are those that Filewise opens besides the workload's: control,
// probes, and the one that stops a call.
const controlConnections = 10

// checkConnections refuses a limit of the user's that leaves no room for the
// workload's connections. What is no number is for the server to refuse.
func (d *design) checkConnections() error {
	need := int64(d.Program.Connections() + controlConnections)
	for name, value := range d.Target.Settings {
		c := strings.TrimPrefix(canonical(name), "loose_")
		if len(c) < len("max_connecti") || !strings.HasPrefix("max_connections", c) {
			continue
		}
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && n < need {
			return filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("leave it out, or give %d or more", need),
				"--set %s=%s is too few: %d connections work, and Filewise itself needs %d", name, value, d.Program.Connections(), controlConnections)
		}
	}
	return nil
}
