package target

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"golang.org/x/term"

	"filewise"
	"filewise/internal/filesystem"
)

// Sources lists where a password that is not in the URL is read from, in order.
type Sources struct {
	File        string    // its first line; "-" means the first line of Stdin. Empty means none
	Environment string    // the value of FILEWISE_PASSWORD. Empty means none
	Stdin       io.Reader // the terminal of the prompt
	Prompt      io.Writer // receives the question
}

// maxPassword limits how much is read, in bytes.
const maxPassword = 64 << 10

const ways = "give it by --password-file FILE or FILEWISE_PASSWORD, or use --no-password if the account has none"

// Password reads the password for the address's account from the sources. Errors have CodeUsage, and show nothing that
// was read.
func Password(ctx context.Context, a filewise.Address, s Sources) (filewise.Secret, error) {
	terminal, isTerminal := s.terminal()
	switch {
	case s.File == "-" && !isTerminal:
		return firstLine(filesystem.Reader(s.Stdin), "standard input")
	case s.File != "" && s.File != "-":
		return fromFile(s.File)
	case s.File == "" && s.Environment != "":
		return filewise.Secret(s.Environment), nil
	case isTerminal:
		return ask(ctx, terminal, s.Prompt, a)
	}
	return "", filewise.Errorf(filewise.CodeUsage, ways, "there is no password for %s, and no terminal to ask on", place(a))
}

func (s Sources) terminal() (*os.File, bool) {
	f, ok := s.Stdin.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// fromFile reads the password from a file, and refuses one that everybody can read.
func fromFile(path string) (filewise.Secret, error) {
	f, err := filesystem.OpenSecret(path)
	if err != nil {
		return "", filewise.Errorf(filewise.CodeUsage, filesystem.SecretRemedy(path, err), "--password-file: %w", err)
	}
	defer f.Close()
	return firstLine(f, path)
}

func firstLine(r io.Reader, name string) (filewise.Secret, error) {
	line, err := bufio.NewReader(io.LimitReader(r, maxPassword)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", filewise.Errorf(filewise.CodeUsage, "name another file", "the password in %s cannot be read: %w", name, err)
	}
	line = strings.TrimRight(line, "\r\n")
	switch {
	case line == "":
		return "", filewise.Errorf(filewise.CodeUsage, ways, "the first line of %s is empty: it holds no password", name)
	case len(line) >= maxPassword-2:
		return "", filewise.Errorf(filewise.CodeUsage, "name the file that holds the password alone",
			"the first line of %s is too long for a password", name)
	}
	return filewise.Secret(line), nil
}

// ask reads the password from a terminal without showing it. However it ends, the terminal then shows input again.
func ask(ctx context.Context, terminal *os.File, prompt io.Writer, a filewise.Address) (filewise.Secret, error) {
	fd := int(terminal.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", filewise.Errorf(filewise.CodeUsage, ways, "ask for the password: %w", err)
	}
	defer func() { _ = term.Restore(fd, before) }() // the terminal may be gone
	if err := disableEcho(fd); err != nil {
		return "", filewise.Errorf(filewise.CodeUsage, ways, "ask for the password: %w", err)
	}
	// The prompt comes only now, so that even what is typed at once is not shown.
	fmt.Fprintf(prompt, "Password for %s: ", place(a))
	type answer struct {
		text []byte
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		text, err := term.ReadPassword(fd)
		answers <- answer{text, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(prompt)
		return "", ctx.Err()
	case got := <-answers:
		fmt.Fprintln(prompt)
		if got.err != nil {
			return "", filewise.Errorf(filewise.CodeUsage, ways, "ask for the password: %w", got.err)
		}
		return filewise.Secret(got.text), nil
	}
}

// place returns the address without its options, as one of them may be a password under a mistyped name.
func place(a filewise.Address) filewise.Address {
	a.Options = nil
	return a
}

// SecretsIn returns everything that may be a secret in a text that looks like a URL, even if it cannot be parsed. It
// serves to mask printed text, so it rather hides too much.
func SecretsIn(text string) []filewise.Secret {
	var found []filewise.Secret
	add := func(s string) {
		if len(s) < 3 {
			return
		}
		found = append(found, filewise.Secret(s))
		if decoded, err := url.QueryUnescape(s); err == nil && decoded != s {
			found = append(found, filewise.Secret(decoded))
		}
		if decoded, err := url.PathUnescape(s); err == nil && decoded != s {
			found = append(found, filewise.Secret(decoded))
		}
	}
	pairs, ok := pairsOf(text)
	if _, behind, is := strings.Cut(text, ";"); !ok && is { // JDBC's
		pairs, _ = pairsOf(behind)
	}
	for _, p := range pairs {
		if IsSecret(p[0]) {
			add(p[1])
		}
	}
	_, rest, ok := strings.Cut(text, "://")
	if !ok {
		return found
	}
	// A password may contain / ? # @ unescaped, so it may end at any @.
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		if _, password, ok := strings.Cut(rest[:at], ":"); ok {
			add(password)
			for i := range password {
				if password[i] == '@' {
					add(password[:i])
				}
			}
		}
	}
	_, query, _ := strings.Cut(rest, "?")
	for pair := range strings.SplitSeq(query, "&") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			if decoded, err := url.QueryUnescape(name); err == nil && IsSecret(decoded) {
				add(value)
			}
		}
	}
	return found
}
