// Package userdir finds the user's own directories.
package userdir

import (
	"os"
	"path/filepath"
)

// Find is Filewise's directory for one kind of the user's data. It is below the directory of the XDG base directory
// specification's variable, whose relative paths are to be ignored. Else it is at the place that the specification or
// the system has for it. Empty means there is none.
func Find(variable string, below ...string) string {
	if dir := os.Getenv(variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, "filewise")
	}
	if dir := base(below); filepath.IsAbs(dir) {
		return filepath.Join(dir, "filewise")
	}
	return ""
}
