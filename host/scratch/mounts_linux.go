package scratch

import (
	"fmt"
	"os"
	"strings"
)

var unescapeMount = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// checkMounts returns an error if something is mounted on or in a directory: it is not Filewise's.
func checkMounts(dir string) error {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("cannot read what is mounted in it: %w", err)
	}
	for line := range strings.Lines(string(b)) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		at := unescapeMount.Replace(fields[4]) // proc_pid_mountinfo(5)
		if at == dir || strings.HasPrefix(at, dir+"/") {
			return fmt.Errorf("something is mounted at %s: unmount it", at)
		}
	}
	return nil
}
