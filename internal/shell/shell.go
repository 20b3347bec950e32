// Package shell writes commands as a shell reads them.
package shell

import "strings"

// Place is the place (Step.On) of steps that run a command.
const Place = "shell"

// plain lists the characters that a shell does not interpret.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:"

// Quoted returns a command with its words quoted for a shell.
func Quoted(command []string) string {
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = word
		if i > 0 && strings.Trim(word, plain) != "" {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
