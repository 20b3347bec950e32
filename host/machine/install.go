package machine

import "runtime"

// Install returns the command that installs a program on this system, given the name of Debian's package.
func Install(name string) string {
	if runtime.GOOS == "linux" {
		return "apt-get install " + name
	}
	return "install " + name + ", and put the directory of its programs into PATH"
}
