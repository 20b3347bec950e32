package filesystem

import (
	"fmt"
	"regexp"
	"runtime"
)

// deviceNames matches names that Windows takes for devices, in whatever directory and with whatever extension: what
// is written to AUX.html is lost, and a reader of COM1 waits.
var deviceNames = regexp.MustCompile(`(?i)(?:^|[\\/:])(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?: *[.:][^\\/]*| *)$`)

// CheckName refuses the name of a device of Windows there.
func CheckName(path string) error {
	if runtime.GOOS == "windows" && deviceNames.MatchString(path) {
		return fmt.Errorf("%s is the name of a device of Windows: name another file", path)
	}
	return nil
}
