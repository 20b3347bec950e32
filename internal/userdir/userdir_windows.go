package userdir

import (
	"os"
	"strings"
)

// Home is the variable that holds the user's directory for data that stay on this machine.
const Home = "LOCALAPPDATA"

// Shown returns that directory, as people write it.
func Shown(...string) string { return "%" + Home + "%" }

var inPaths = strings.NewReplacer("/mnt/", `D:\`, "sqlite:/srv/app/", `sqlite:D:\app\`, "~/.", `D:\`,
	"bash > ~/.local/share/bash-completion/completions/filewise", "powershell | Out-String | Invoke-Expression")

// Example returns the example of a command with paths of this system.
func Example(text string) string { return inPaths.Replace(text) }

// base returns that directory, whatever the specification has below the home.
func base([]string) string { return os.Getenv(Home) }
