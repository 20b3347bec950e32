//go:build !windows

package userdir

import (
	"os"
	"path/filepath"
)

// Home is the variable that holds the user's home directory.
const Home = "HOME"

// Shown returns a directory below the user's home, as people write it.
func Shown(below ...string) string { return filepath.Join(append([]string{"~"}, below...)...) }

// Example returns the example of a command with paths of this system.
func Example(text string) string { return text }

// base returns a directory below the user's home.
func base(below []string) string {
	return filepath.Join(append([]string{os.Getenv(Home)}, below...)...)
}
