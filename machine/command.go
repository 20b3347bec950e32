package machine

import (
	"context"
	"os"
	"os/exec"
)

// Command is a program that is not Filewise's, to be run without what of Filewise's
// environment is none of its business: FILEWISE_PASSWORD, a URL, a token.
func Command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = Environment("LC_ALL=C")
	return cmd
}

// Environment is what other programs need of Filewise's to be found and to start, with
// what is set.
func Environment(set ...string) []string {
	env := []string{}
	for _, name := range []string{"PATH", "LD_LIBRARY_PATH", "TZ", "SYSTEMROOT"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return append(env, set...)
}
