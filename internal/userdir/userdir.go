// Package userdir finds the user's own directories.
package userdir

import (
	"os"
	"path/filepath"
)

// Find returns Filewise's directory for one kind of the user's data. It is below the directory in variable, as the XDG
// base directory specification demands; a relative path in the variable is ignored. Without the variable, it is at the
// place that the specification or the system has for it. It is empty if there is none.
func Find(variable string, below ...string) string {
	if dir := os.Getenv(variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, "filewise")
	}
	if dir := base(below); filepath.IsAbs(dir) {
		return filepath.Join(dir, "filewise")
	}
	return ""
}
