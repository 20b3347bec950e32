package script

import "strings"

// Shell is where commands are done.
const Shell = "shell"

// plain are the characters that a shell takes as they are.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:"

// Quoted writes a command so that a shell would read it back.
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
