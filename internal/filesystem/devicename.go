package filesystem

import (
	"fmt"
	"regexp"
	"runtime"
)

// deviceNames matches names that Windows takes for devices, in any directory and with any extension. What is written to
// AUX.html is lost, and reading COM1 waits.
var deviceNames = regexp.MustCompile(`(?i)(?:^|[\\/:])(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?: *[.:][^\\/]*| *)$`)

// CheckName returns an error on Windows if the name is a device's.
func CheckName(path string) error {
	if runtime.GOOS == "windows" && deviceNames.MatchString(path) {
		return fmt.Errorf("%s is the name of a device of Windows: name another file", path)
	}
	return nil
}
