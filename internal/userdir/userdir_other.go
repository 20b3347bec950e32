//go:build !windows

package userdir

import (
	"os"
	"path/filepath"
)

// Home is the variable with the user's directory.
const Home = "HOME"

// Shown returns a directory below the user's home as people write it.
func Shown(below ...string) string { return filepath.Join(append([]string{"~"}, below...)...) }

// base is a directory below the user's home.
func base(below []string) string {
	return filepath.Join(append([]string{os.Getenv(Home)}, below...)...)
}
