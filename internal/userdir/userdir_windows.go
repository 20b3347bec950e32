package userdir

import "os"

// Home is the variable that holds the user's directory for data that stay on this machine.
const Home = "LOCALAPPDATA"

// Shown returns that directory, as people write it.
func Shown(...string) string { return "%" + Home + "%" }

// base returns that directory, whatever the specification has below the home.
func base([]string) string { return os.Getenv(Home) }
