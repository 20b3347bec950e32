package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// shells holds each shell's name, and how completion is installed in it for good.
var shells = map[string]struct{ title, install string }{
	"bash":       {"Bash", "  filewise completion bash > ~/.local/share/bash-completion/completions/filewise"},
	"zsh":        {"Zsh", "  filewise completion zsh > \"${fpath[1]}/_filewise\"   # and \"autoload -U compinit; compinit\" in ~/.zshrc"},
	"fish":       {"Fish", "  filewise completion fish > ~/.config/fish/completions/filewise.fish"},
	"powershell": {"PowerShell", "  filewise completion powershell | Out-String | Invoke-Expression   # a line for $PROFILE"},
}

// describeCompletion gives cobra's completion commands texts in Filewise's style.
func describeCompletion(c *cobra.Command) {
	c.Short = "Write the completion script of a shell"
	c.Long = `Completion writes the script by which a shell completes commands, flags, values and runs.`
	for _, sub := range c.Commands() {
		s, known := shells[sub.Name()]
		if !known {
			continue
		}
		sub.Short = "Write the completion script of " + s.title
		sub.Long = fmt.Sprintf("The script goes to standard output. %s reads it when it starts, and the script asks\nFilewise what fits.",
			s.title)
		sub.Example = s.install
	}
}
